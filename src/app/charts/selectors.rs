//! Selectors of pods: two releases in one namespace must not select each other's pods.
//!
//! Objects whose names are the same in every release are left out: helm refuses a second release of them.

use super::{Chart, Finding, Rendering, Rule, rendering::RenderedObject, workloads};
use go_data::yaml::Value;

pub fn check(chart: &Chart, rendering: &Rendering) -> Vec<Finding> {
    let workloads = workloads::all(rendering);
    let Some(release) = &rendering.release else {
        if workloads.is_empty() {
            return Vec::new();
        }
        let what = "no object has the label `app.kubernetes.io/instance`, so it is unknown which label identifies the release".to_owned();
        let place = chart.place("Chart.yaml", 0, 0);
        return vec![Rule::SelectorUnknown.to_finding(&chart.name, what, Some(place))];
    };
    let mut findings = Vec::new();
    let services: Vec<&RenderedObject> =
        rendering.own().filter(|object| object.is("Service")).collect();
    for object in [workloads, services].concat() {
        let selector = if object.is("Service") {
            &object.value["spec"]["selector"]
        } else {
            &object.value["spec"]["selector"]["matchLabels"]
        };
        let Some(labels) = selector.as_object().filter(|labels| !labels.is_empty()) else {
            continue;
        };
        let names_release =
            |value: &Value| value.as_str().is_some_and(|text| text.contains(release.as_str()));
        if !object.name().contains(release.as_str()) || labels.values().any(names_release) {
            continue;
        }
        let shown: Vec<String> = labels
            .iter()
            .map(|pair| format!("{}={}", pair.0, pair.1.as_str().unwrap_or_default()))
            .collect();
        let what = format!(
            "the selector `{}` is the same in every release{}",
            shown.join(","),
            rendering.with_values()
        );
        let text = if object.is("Service") { "selector:" } else { "matchLabels:" };
        findings.push(Rule::SharedSelector.to_finding(
            object.subject(),
            what,
            object.place(chart, Some(text)),
        ));
    }
    findings
}
