//! Checks the kind and the metadata of every manifest except CSV and CRDs.

use super::{super::kinds, Findings, Manifest, Rule, csv, of};
use crd::definition::check_metadata;

pub fn check(manifests: &[Manifest], findings: &mut Findings) {
    for Manifest { path, object } in manifests {
        let kind = of::kind(object);
        if matches!(kind, "ClusterServiceVersion" | "CustomResourceDefinition") {
            continue;
        }
        if !kinds::is_supported_kind(kind) {
            let kind = csv::format_gvk(object);
            findings.error(
                Rule::ObjectUnsupported,
                (*path, "/kind"),
                format!("{kind}: unsupported media type registry+v1 for bundle object"),
            );
            continue;
        }
        for fault in check_metadata(object) {
            let field = fault.split(": ").next().unwrap_or_default().replace('.', "/");
            findings.error(
                Rule::ObjectMetadata,
                (*path, format!("/{field}")),
                format!("error validating object: {fault}"),
            );
        }
    }
}
