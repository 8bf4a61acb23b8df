//! The workloads of the operator, and the roles of their accounts.

use std::collections::BTreeSet;

use super::{Rendering, bindings, rendering::Object};
use crate::{audit, project::Rule};
use go_data::yaml::Value;

/// The roles that are bound to an account.
pub struct Bound<'a> {
    /// Each with its rules, limited to a namespace where they are granted only there.
    pub roles: Vec<(&'a Object, Vec<Rule>)>,
    /// The names of roles that are not in the chart.
    pub unknown: BTreeSet<String>,
    /// Why roles and bindings in the chart grant nothing.
    pub void: BTreeSet<String>,
}

/// The chart's workloads: those that run all the time, or, if it has none, those that end. What is created for a step of
/// an installation alone is not the operator.
pub fn all(rendering: &Rendering) -> Vec<&Object> {
    let all: Vec<&Object> =
        rendering.own().filter(|it| !it.is_hook() && pod(it).is_some()).collect();
    let ends = |it: &Object| ["Job", "CronJob", "Pod"].iter().any(|kind| it.is(kind));
    let lasting: Vec<&Object> = all.iter().copied().filter(|it| !ends(it)).collect();
    if lasting.is_empty() { all } else { lasting }
}

/// The spec of the pods of a workload of any kind.
pub fn pod(object: &Object) -> Option<&Value> {
    let pods = ["/spec/template/spec", "/spec/jobTemplate/spec/template/spec"];
    let pods = pods.iter().filter_map(|it| object.value.pointer(it));
    let own = object.value.get("spec").filter(|_| object.is("Pod"));
    pods.chain(own).find(|it| it["containers"].is_array())
}

/// Namespace and name of the ServiceAccounts of the chart's workloads.
pub fn accounts(rendering: &Rendering) -> BTreeSet<(String, String)> {
    all(rendering).into_iter().map(|it| account(rendering, it)).collect()
}

fn account(rendering: &Rendering, workload: &Object) -> (String, String) {
    let field = |name: &str| pod(workload)?[name].as_str().filter(|it| !it.is_empty());
    let name = field("serviceAccountName").or(field("serviceAccount"));
    (namespace(rendering, workload), name.unwrap_or("default").to_owned())
}

fn namespace(rendering: &Rendering, object: &Object) -> String {
    let own = object.value["metadata"]["namespace"].as_str().filter(|it| !it.is_empty());
    own.unwrap_or(&rendering.namespace).to_owned()
}

/// The roles that a chart binds to the accounts of its workloads.
pub fn bound_to_any(rendering: &Rendering) -> Bound<'_> {
    let mut res = Bound { roles: Vec::new(), unknown: BTreeSet::new(), void: BTreeSet::new() };
    for account in accounts(rendering) {
        let Bound { roles, unknown, void } = bound(rendering, &account);
        res.roles.extend(roles);
        res.unknown.extend(unknown);
        res.void.extend(void);
    }
    if res.roles.is_empty() && res.unknown.is_empty() && res.void.is_empty() {
        let unbound = |(_, name)| format!("no role is bound to the ServiceAccount `{name}`");
        res.void.extend(accounts(rendering).into_iter().map(unbound));
    }
    res
}

/// The roles that a chart binds to an account.
fn bound<'a>(rendering: &'a Rendering, account: &(String, String)) -> Bound<'a> {
    let mut res = Bound { roles: Vec::new(), unknown: BTreeSet::new(), void: BTreeSet::new() };
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
        if let Some(why) = void(binding) {
            res.void.insert(why);
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
        if let Some(why) = void(role) {
            res.void.insert(why);
            continue;
        }
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

/// Why a role or a binding is not on the cluster once a release is installed.
fn void(object: &Object) -> Option<String> {
    if !object.is_installed() {
        return Some(format!(
            "{} is a hook and no longer exists after `helm install`",
            object.subject()
        ));
    }
    bindings::refusal(object).map(|it| format!("API servers refuse {}: {it}", object.subject()))
}

/// The rules of the chart's own ClusterRoles that a role collects.
fn aggregated(rendering: &Rendering, role: &Object) -> Vec<Rule> {
    let selectors = role.value["aggregationRule"]["clusterRoleSelectors"].as_array();
    let mut res = Vec::new();
    for wanted in selectors.into_iter().flatten().filter_map(|it| it["matchLabels"].as_object()) {
        let fits = |it: &&Object| {
            let labels = &it.value["metadata"]["labels"];
            it.is("ClusterRole")
                && void(it).is_none()
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
    let all = all(rendering);
    let has_rights = |it: &&Object| {
        let bound = bound(rendering, &account(rendering, it));
        !bound.roles.is_empty() || !bound.unknown.is_empty()
    };
    let found: Vec<&Object> = all.iter().copied().filter(has_rights).collect();
    if found.is_empty() { all } else { found }
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
