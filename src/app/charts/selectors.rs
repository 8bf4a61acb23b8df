//! Selectors of pods: two releases in one namespace must not select each other's pods.
//!
//! Objects whose names are the same in every release are left out: helm refuses a second release of them.

use super::{Chart, Finding, Rendering, Rule, rendering::Object, workloads};
use go_data::yaml::Value;

pub fn check(chart: &Chart, rendering: &Rendering) -> Vec<Finding> {
    let workloads = workloads::all(rendering);
    let Some(release) = &rendering.release else {
        if workloads.is_empty() {
            return Vec::new();
        }
        let what = "no object has the label `app.kubernetes.io/instance`, so it is unknown which label identifies the release".to_owned();
        let place = chart.place("Chart.yaml", 0, 0);
        return vec![Rule::SelectorUnknown.finding(&chart.name, what, Some(place))];
    };
    let mut res = Vec::new();
    let services: Vec<&Object> = rendering.own().filter(|it| it.is("Service")).collect();
    for object in [workloads, services].concat() {
        let selector = match object.is("Service") {
            true => &object.value["spec"]["selector"],
            false => &object.value["spec"]["selector"]["matchLabels"],
        };
        let Some(labels) = selector.as_object().filter(|it| !it.is_empty()) else { continue };
        let names_release =
            |it: &Value| it.as_str().is_some_and(|it| it.contains(release.as_str()));
        if !object.name().contains(release.as_str()) || labels.values().any(names_release) {
            continue;
        }
        let shown: Vec<String> = labels
            .iter()
            .map(|it| format!("{}={}", it.0, it.1.as_str().unwrap_or_default()))
            .collect();
        let what = format!(
            "the selector `{}` is the same in every release{}",
            shown.join(","),
            rendering.with_values()
        );
        let text = if object.is("Service") { "selector:" } else { "matchLabels:" };
        res.push(Rule::SharedSelector.finding(
            object.subject(),
            what,
            object.place(chart, Some(text)),
        ));
    }
    res
}
