//! The workloads of the operator, and the roles of their accounts.

use std::collections::BTreeSet;

use super::{Rendering, rendering::Object};
use crate::{audit, project::Rule};
use go_data::yaml::Value;

pub const KINDS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// The roles that are bound to an account.
pub struct Bound<'a> {
    /// Each with its rules, limited to a namespace where they are granted only there.
    pub roles: Vec<(&'a Object, Vec<Rule>)>,
    /// The names of roles that are not in the chart.
    pub unknown: BTreeSet<String>,
}

/// Namespace and name of the ServiceAccounts of the chart's workloads.
pub fn accounts(rendering: &Rendering) -> BTreeSet<(String, String)> {
    let workloads = rendering.own().filter(|it| KINDS.iter().any(|kind| it.is(kind)));
    workloads.map(|it| account(rendering, it)).collect()
}

pub fn account(rendering: &Rendering, workload: &Object) -> (String, String) {
    let pod = &workload.value["spec"]["template"]["spec"];
    let name = pod["serviceAccountName"].as_str().or(pod["serviceAccount"].as_str());
    let name = name.filter(|it| !it.is_empty()).unwrap_or("default");
    (namespace(rendering, workload), name.to_owned())
}

fn namespace(rendering: &Rendering, object: &Object) -> String {
    let own = object.value["metadata"]["namespace"].as_str().filter(|it| !it.is_empty());
    own.unwrap_or(&rendering.namespace).to_owned()
}

/// The roles that a chart binds to an account.
pub fn bound<'a>(rendering: &'a Rendering, account: &(String, String)) -> Bound<'a> {
    let mut res = Bound { roles: Vec::new(), unknown: BTreeSet::new() };
    for binding in &rendering.objects {
        let is_cluster = binding.is("ClusterRoleBinding");
        if !is_cluster && !binding.is("RoleBinding") {
            continue;
        }
        let within = namespace(rendering, binding);
        let subjects = binding.value["subjects"].as_array().into_iter().flatten();
        if !{ subjects }.any(|it| is_of(it, account, &within)) {
            continue;
        }
        let of = &binding.value["roleRef"];
        let (kind, name) = (text(&of["kind"]), text(&of["name"]));
        let is_role = |it: &&Object| {
            it.is(&kind)
                && it.name() == name
                && (kind == "ClusterRole" || namespace(rendering, it) == within)
        };
        let Some(role) = rendering.objects.iter().find(is_role) else {
            res.unknown.insert(format!("{kind} {name}"));
            continue;
        };
        let mut rules = audit::grants(std::slice::from_ref(&role.value));
        rules.extend(aggregated(rendering, role));
        if role.value.get("aggregationRule").is_some_and(|it| !it.is_null()) {
            res.unknown.insert(format!("{kind} {name}, which is aggregated"));
        }
        rules.iter_mut().for_each(|it| it.namespace = (!is_cluster).then(|| within.clone()));
        res.roles.push((role, rules));
    }
    res
}

/// The rules of the chart's own ClusterRoles that a role collects.
fn aggregated(rendering: &Rendering, role: &Object) -> Vec<Rule> {
    let selectors = role.value["aggregationRule"]["clusterRoleSelectors"].as_array();
    let mut res = Vec::new();
    for wanted in selectors.into_iter().flatten().filter_map(|it| it["matchLabels"].as_object()) {
        let fits = |it: &&Object| {
            let labels = &it.value["metadata"]["labels"];
            it.is("ClusterRole")
                && wanted.iter().all(|(name, value)| labels.get(name) == Some(value))
        };
        let roles: Vec<Value> =
            rendering.objects.iter().filter(fits).map(|it| it.value.clone()).collect();
        res.extend(audit::grants(&roles));
    }
    res
}

/// Whether a subject of a binding is an account, or a group that it is in.
fn is_of(subject: &Value, (namespace, name): &(String, String), within: &str) -> bool {
    let of = text(&subject["namespace"]);
    let of = if of.is_empty() { within } else { &of };
    let is_group = |it: &str| {
        ["system:serviceaccounts", "system:authenticated"].contains(&it)
            || *it == *format!("system:serviceaccounts:{namespace}")
    };
    match (text(&subject["kind"]).as_str(), text(&subject["name"]).as_str()) {
        ("ServiceAccount", it) => it == name && of == namespace,
        ("User", it) => *it == *format!("system:serviceaccount:{namespace}:{name}"),
        ("Group", it) => is_group(it),
        _ => false,
    }
}

/// The workloads whose account has rights; all if none has.
pub fn operators(rendering: &Rendering) -> Vec<&Object> {
    let all = || rendering.own().filter(|it| KINDS.iter().any(|kind| it.is(kind)));
    let has_rights = |it: &&Object| {
        let bound = bound(rendering, &account(rendering, it));
        !bound.roles.is_empty() || !bound.unknown.is_empty()
    };
    let found: Vec<&Object> = all().filter(has_rights).collect();
    if found.is_empty() { all().collect() } else { found }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_account_is_bound_by_its_name_and_by_its_groups() {
    use go_data::yaml::json;
    let account = ("ns".to_owned(), "it".to_owned());
    let check = |subject: Value, expected: bool| {
        assert_eq!(is_of(&subject, &account, "ns"), expected, "{subject}");
    };
    check(json!({"kind": "ServiceAccount", "name": "it"}), true);
    check(json!({"kind": "ServiceAccount", "name": "it", "namespace": "other"}), false);
    check(json!({"kind": "User", "name": "system:serviceaccount:ns:it"}), true);
    check(json!({"kind": "Group", "name": "system:serviceaccounts:ns"}), true);
    check(json!({"kind": "Group", "name": "system:serviceaccounts:other"}), false);
    check(json!({"kind": "User", "name": "it"}), false);
}
