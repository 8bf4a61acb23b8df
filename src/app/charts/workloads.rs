//! The workloads of the operator, and the roles of their accounts.

use std::collections::BTreeSet;

use super::{Rendering, bindings, rendering::Object};
use crate::{audit, project::Rule};
use go_data::{
    kubernetes::rbac::{self, Account},
    yaml::Value,
};

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
fn bound<'a>(rendering: &'a Rendering, (namespace, name): &(String, String)) -> Bound<'a> {
    let mut res = Bound { roles: Vec::new(), unknown: BTreeSet::new(), void: BTreeSet::new() };
    let account = Account { namespace, name, default_namespace: &rendering.namespace };
    let objects: Vec<&Value> = rendering.objects.iter().map(|object| &object.value).collect();
    // A ClusterRoleBinding whose subject has no namespace binds nothing, and is refused: that explains what is missing.
    let names_account = |binding: &&Object| {
        let subjects = binding.value["subjects"].as_array().into_iter().flatten();
        let mut accounts = subjects.filter(|it| it["kind"] == "ServiceAccount");
        accounts.any(|it| it["name"] == **name && text(&it["namespace"]).is_empty())
    };
    let bindings = rendering.objects.iter().filter(|it| rbac::is_binding(&it.value));
    res.void.extend(bindings.filter(names_account).filter_map(void));
    let find = |value: &Value| rendering.objects.iter().find(|it| std::ptr::eq(&it.value, value));
    for grant in rbac::grants(&objects, account) {
        let role = grant.role.and_then(find);
        let voids = find(grant.binding).into_iter().chain(role);
        if let Some(why) = { voids }.find_map(void) {
            res.void.insert(why);
            continue;
        }
        let title = || {
            let part = |field: &str| text(&grant.binding["roleRef"][field]);
            format!("{} {}", part("kind"), part("name"))
        };
        let Some(role) = role else {
            res.unknown.insert(title());
            continue;
        };
        let parts = rbac::aggregated_into(&objects, &role.value);
        let parts = parts.into_iter().filter(|part| find(part).and_then(void).is_none());
        let roles: Vec<Value> = [&role.value].into_iter().chain(parts).cloned().collect();
        if rbac::is_aggregated(&role.value) {
            res.unknown.insert(format!("{}, which is aggregated", title()));
        }
        let mut rules = audit::grants(&roles);
        rules.iter_mut().for_each(|it| it.namespace = grant.namespace.map(str::to_owned));
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
