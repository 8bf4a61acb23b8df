//! The annotation `artifacthub.io/crds` of Chart.yaml, in which Artifact Hub looks for the CRDs, against those of the
//! chart.

use std::collections::BTreeSet;

use super::{Chart, Finding, Rule, crds::CrdCopy};
use go_data::yaml::{self, Value, pointer};

/// The key of the annotation, of <https://artifacthub.io/docs/topics/annotations/helm/>.
pub const ANNOTATION: &str = "artifacthub.io/crds";

/// Compares the names and served versions that the annotation lists with those of the chart's CRDs.
pub fn check(chart: &Chart, copies: &[CrdCopy<'_>]) -> Option<Finding> {
    let pointer = format!("/annotations/{}", ANNOTATION.replace('/', "~1"));
    let text = chart.manifest.clone().into_value().pointer(&pointer)?.as_str()?.to_owned();
    let mark = chart.manifest.mark_at(&pointer);
    let place = Some(chart.place("Chart.yaml", mark.line, mark.column));
    let finding = |what: String| Some(Rule::ListedCrds.to_finding(ANNOTATION, what, place));
    let list = yaml::from_text(&text, yaml::Dialect::Kubernetes).ok();
    let Some(items) = list.as_ref().and_then(Value::as_array) else {
        return finding("it is not a YAML list".to_owned());
    };
    let listed: BTreeSet<String> =
        items.iter().map(|item| label_of_version(&item["name"], &item["version"])).collect();
    let served: BTreeSet<String> =
        copies.iter().flat_map(|copy| served_versions(&copy.crd)).collect();
    let difference = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        one.difference(other).cloned().collect::<Vec<_>>().join(", ")
    };
    match (difference(&served, &listed), difference(&listed, &served)) {
        (missing, extra) if missing.is_empty() && extra.is_empty() => None,
        (missing, extra) if extra.is_empty() => finding(format!("it does not list {missing}")),
        (missing, extra) if missing.is_empty() => {
            finding(format!("it lists {extra}, which no CRD of the chart serves"))
        }
        (missing, extra) => finding(format!(
            "it lists {extra}, which no CRD of the chart serves, and does not list {missing}"
        )),
    }
}

fn served_versions(crd: &Value) -> impl Iterator<Item = String> {
    let versions = pointer::list(crd, "/spec/versions").iter();
    let versions = versions.filter(|version| version["served"] == true);
    versions.map(|version| label_of_version(&crd["metadata"]["name"], &version["name"]))
}

fn label_of_version(name: &Value, version: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("`{}` of {}", text(version), text(name))
}
