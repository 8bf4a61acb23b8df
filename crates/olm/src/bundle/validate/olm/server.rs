//! Checks the objects that OLM creates from a CSV like an API server: roles, and the resources of containers.

use super::{super::load::Loaded, Faults, Rule, located_deployments, of};
use go_data::{
    kubernetes::quantity,
    yaml::{Map, Value},
};

pub fn check(bundle: &Loaded, faults: &mut Faults) {
    let (path, csv) = (bundle.csv.path, &bundle.csv.object);
    let install = "/spec/install/spec";
    for (field, is_namespaced) in [("permissions", true), ("clusterPermissions", false)] {
        let list = format!("{install}/{field}");
        for (at, entry) in of::list(csv, &list).iter().enumerate() {
            check_rules(path, &format!("{list}/{at}"), entry, is_namespaced, faults);
        }
    }
    for manifest in &bundle.objects {
        if let kind @ ("Role" | "ClusterRole") = of::kind(&manifest.object) {
            check_rules(manifest.path, "", &manifest.object, kind == "Role", faults);
        }
    }
    for (at, deployment) in located_deployments(csv) {
        check_resources(path, &at, deployment, faults);
    }
    let strategy = of::text(csv, "/spec/install/strategy");
    if !matches!(strategy, "" | "deployment") {
        let message = format!("unrecognized install strategy {strategy:?}");
        faults.push(Rule::Strategy, (path, "/spec/install/strategy"), message);
    }
    if of::text(bundle.written_csv(), "/spec/version").is_empty() {
        let message = "the CSV has no version, and `opm` puts no bundle without one into a catalog";
        faults.push(Rule::NoVersion, (path, "/spec"), message);
    }
}

/// Checks the rules of a role like `ValidatePolicyRule` of Kubernetes.
fn check_rules(path: &str, at: &str, role: &Value, is_namespaced: bool, faults: &mut Faults) {
    for (number, rule) in of::list(role, "/rules").iter().enumerate() {
        let is_empty = |field: &str| of::list(rule, field).is_empty();
        let urls = !is_empty("/nonResourceURLs");
        let resources = ["/apiGroups", "/resources", "/resourceNames"]
            .into_iter()
            .any(|field| !is_empty(field));
        let checks = [
            (is_empty("/verbs"), "verbs", "verbs must contain at least one value"),
            (
                urls && is_namespaced,
                "nonResourceURLs",
                "namespaced rules cannot apply to non-resource URLs",
            ),
            (
                urls && !is_namespaced && resources,
                "nonResourceURLs",
                "rules cannot apply to both regular resources and non-resource URLs",
            ),
            (
                !urls && is_empty("/apiGroups"),
                "apiGroups",
                "resource rules must supply at least one api group",
            ),
            (
                !urls && is_empty("/resources"),
                "resources",
                "resource rules must supply at least one resource",
            ),
        ];
        for (_, field, message) in checks.into_iter().filter(|check| check.0) {
            let place = format!("{at}/rules/{number}/{field}");
            faults.push(
                Rule::RoleRefused,
                (path, place),
                format!("the API server refuses the role: {message}"),
            );
        }
    }
}

/// Reports requests that are higher than the limits.
fn check_resources(path: &str, at: &str, deployment: &Value, faults: &mut Faults) {
    for list in ["containers", "initContainers"] {
        let list = format!("/spec/template/spec/{list}");
        for (number, container) in of::list(deployment, &list).iter().enumerate() {
            let amounts = |kind: &str| {
                container.pointer(&format!("/resources/{kind}")).and_then(Value::as_object)
            };
            let limits = amounts("limits");
            for (name, request) in amounts("requests").into_iter().flat_map(Map::iter) {
                let Some(limit) = limits.and_then(|limits| limits.get(name)) else { continue };
                let amount = |quantity: &Value| quantity.as_str().and_then(quantity::to_nano);
                if let (Some(least), Some(most)) = (amount(request), amount(limit))
                    && most < least
                {
                    let message = format!(
                        "the container `{}` requests {} of {name}, and its limit is {}: the API server refuses it",
                        of::name_of(container),
                        request.as_str().unwrap_or_default(),
                        limit.as_str().unwrap_or_default(),
                    );
                    let place = format!("{at}{list}/{number}/resources/requests/{name}");
                    faults.push(Rule::Limits, (path, place), message);
                }
            }
        }
    }
}
