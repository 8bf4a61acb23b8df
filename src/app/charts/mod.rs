//! Checks that a Helm chart, which may be written by hand, agrees with the Rust source: its CRDs, the rights of the
//! operator, versions, selectors, and its size.
//!
//! `chart` reads the folder, `rendering` has helm render it or takes what was rendered elsewhere. The other modules compare
//! values with values, and return findings. Only objects of the chart's own templates are judged, not those of subcharts.

mod bindings;
mod chart;
mod crd_files;
pub mod crds;
mod deployed;
mod generated;
pub mod helm;
mod ignored;
mod listed_crds;
mod markers;
pub mod references;
mod release;
pub mod release_secret;
mod rendering;
pub mod rights;
pub mod selectors;
pub mod size;
mod source;
mod template;
pub mod versions;
mod workloads;

pub use chart::Chart;
pub use generated::{BY as GENERATED_BY, FOLDER as GENERATED_FOLDER, is_generated, with_remedy};
pub use helm::render;
pub use listed_crds::ANNOTATION as LISTED_CRDS;
pub use markers::known_rights;
pub use release::{ChartRelease, require_namespace};
pub use rendering::Rendering;
pub use source::{ChartSource, SourceSelection};

use crate::app::findings::{Finding, SourceSpan};

diagnostics::rules! {
    ():
    DoesNotRender "does-not-render" () Error "The chart renders" ""
    CrdUnreadable "crd-unreadable" () Error "The files of CRDs are YAML" ""
    CrdMissing "crd-missing" () Error "The chart has every CRD of the source" "write it with `operator-rs generate crds`"
    CrdDiffers "crd-differs" () Error "The CRDs of the chart are those of the source" "write it again with `operator-rs generate crds`"
    CrdNotInstalled "crd-not-installed" () Warning "Helm installs the CRDs of the chart" "move it to `crds/`, or include it in a template"
    CrdUndeclared "crd-undeclared" () Note "The source declares every CRD of the chart" ""
    ListedCrds "listed-crds" () Warning "`artifacthub.io/crds` lists the CRDs of the chart" "list each served version with `kind`, `name`, `version`, `displayName` and `description`, or remove the annotation"
    CrdsElsewhere "crds-elsewhere" () Note "The chart has CRDs of every group" ""
    NotServed "not-served" () Warning "The source serves the versions that controllers use" ""
    RightMissing "right-missing" () Error "The operator's roles grant what it needs" "add the rule to a role that is bound to the ServiceAccount of the operator"
    RightInNamespace "right-in-namespace" () Note "Rights that are needed everywhere are granted everywhere" ""
    RightUnused "right-unused" () Note "The operator needs every right that it has" ""
    RightsUnknown "rights-unknown" () Note "It is known which rights the operator needs and has" ""
    ReferenceMissing "reference-missing" () Warning "The chart has what its objects refer to" "add it to the chart, or make it optional; `--allow reference-missing` accepts what users create before"
    AppVersion "app-version" () Error "`appVersion` is the version in Cargo.toml" "set both to the same version"
    ImageTag "image-tag" () Error "The tag of the operator's image is `appVersion`" "leave the tag to `.Chart.AppVersion`, or set both to the same version"
    FloatingTag "floating-tag" () Warning "The tag of the operator's image names a version" "leave the tag to `.Chart.AppVersion`"
    VersionUnknown "version-unknown" () Note "The versions are known" ""
    SharedSelector "shared-selector" () Warning "Selectors distinguish two releases in a namespace" "add the label `app.kubernetes.io/instance: {{ .Release.Name }}` to the selector and to the pods"
    SelectorUnknown "selector-unknown" () Note "It is known whether selectors distinguish two releases" ""
    ReleaseSize "release-size" () Error "The release fits into a Secret" "leave files out with .helmignore, or move the CRDs to a chart of their own"
}

impl Rule {
    /// Returns a finding of this rule with its hint.
    fn to_finding(
        self,
        subject: impl Into<String>,
        what: String,
        place: Option<SourceSpan>,
    ) -> Finding {
        let subject = subject.into();
        Finding {
            rule: self.id(),
            severity: self.info().severity,
            remedy: self.info().hint.to_owned(),
            fingerprint: ("chart/v1", format!("{self} {subject} {what}")),
            object: subject.clone(),
            subject,
            what,
            values: None,
            place,
            before: None,
        }
    }
}
