//! The workloads of the operator, and the roles of their accounts.

use std::collections::BTreeSet;

use super::{Rendering, bindings, rendering::RenderedObject};
use crate::{audit, project::Rule};
use go_data::{
    kubernetes::rbac::{self, Account},
    yaml::Value,
};

/// The roles that are bound to an account.
pub struct BoundRoles<'a> {
    /// Each with its rules, limited to a namespace where they are granted only there.
    pub roles: Vec<(&'a RenderedObject, Vec<Rule>)>,
    /// The names of roles that are not in the chart.
    pub unknown: BTreeSet<String>,
    /// Why roles and bindings in the chart grant nothing.
    pub void: BTreeSet<String>,
}

/// Returns the chart's workloads: those that run all the time, or, if it has none, those that end. What is created for
/// a step of an installation alone is not the operator.
pub fn all(rendering: &Rendering) -> Vec<&RenderedObject> {
    let all: Vec<&RenderedObject> =
        rendering.own().filter(|object| !object.is_hook() && pod(object).is_some()).collect();
    let ends =
        |object: &RenderedObject| ["Job", "CronJob", "Pod"].iter().any(|kind| object.is(kind));
    let lasting: Vec<&RenderedObject> =
        all.iter().copied().filter(|object| !ends(object)).collect();
    if lasting.is_empty() { all } else { lasting }
}

/// Returns the spec of the pods of a workload of any kind.
pub fn pod(object: &RenderedObject) -> Option<&Value> {
    let pods = ["/spec/template/spec", "/spec/jobTemplate/spec/template/spec"];
    let pods = pods.iter().filter_map(|pod| object.value.pointer(pod));
    let own = object.value.get("spec").filter(|_| object.is("Pod"));
    pods.chain(own).find(|pod| pod["containers"].is_array())
}

/// Returns namespace and name of the ServiceAccounts of the chart's workloads.
pub fn accounts(rendering: &Rendering) -> BTreeSet<(String, String)> {
    all(rendering).into_iter().map(|object| account_of(rendering, object)).collect()
}

fn account_of(rendering: &Rendering, workload: &RenderedObject) -> (String, String) {
    let field = |name: &str| pod(workload)?[name].as_str().filter(|name| !name.is_empty());
    let name = field("serviceAccountName").or(field("serviceAccount"));
    (namespace_of(rendering, workload), name.unwrap_or("default").to_owned())
}

fn namespace_of(rendering: &Rendering, object: &RenderedObject) -> String {
    let own = object.value["metadata"]["namespace"].as_str().filter(|text| !text.is_empty());
    own.unwrap_or(&rendering.namespace).to_owned()
}

/// Returns the roles that a chart binds to the accounts of its workloads.
pub fn bound_to_any(rendering: &Rendering) -> BoundRoles<'_> {
    let mut res = BoundRoles { roles: Vec::new(), unknown: BTreeSet::new(), void: BTreeSet::new() };
    for account in accounts(rendering) {
        let BoundRoles { roles, unknown, void } = bound_roles(rendering, &account);
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

/// Returns the roles that a chart binds to an account.
fn bound_roles<'a>(
    rendering: &'a Rendering,
    (namespace, name): &(String, String),
) -> BoundRoles<'a> {
    let mut res = BoundRoles { roles: Vec::new(), unknown: BTreeSet::new(), void: BTreeSet::new() };
    let account = Account { namespace, name, default_namespace: &rendering.namespace };
    let objects: Vec<&Value> = rendering.objects.iter().map(|object| &object.value).collect();
    // A ClusterRoleBinding whose subject has no namespace binds nothing, and is refused: that explains what is missing.
    let names_account = |binding: &&RenderedObject| {
        let subjects = binding.value["subjects"].as_array().into_iter().flatten();
        let mut accounts = subjects.filter(|subject| subject["kind"] == "ServiceAccount");
        accounts
            .any(|account| account["name"] == **name && text_of(&account["namespace"]).is_empty())
    };
    let bindings = rendering.objects.iter().filter(|object| rbac::is_binding(&object.value));
    res.void.extend(bindings.filter(names_account).filter_map(absence_reason));
    let find =
        |value: &Value| rendering.objects.iter().find(|object| std::ptr::eq(&object.value, value));
    for grant in rbac::collect_grants(&objects, account) {
        let role = grant.role.and_then(find);
        let voids = find(grant.binding).into_iter().chain(role);
        if let Some(why) = { voids }.find_map(absence_reason) {
            res.void.insert(why);
            continue;
        }
        let title = || {
            let part = |field: &str| text_of(&grant.binding["roleRef"][field]);
            format!("{} {}", part("kind"), part("name"))
        };
        let Some(role) = role else {
            res.unknown.insert(title());
            continue;
        };
        let parts = rbac::aggregated_into(&objects, &role.value);
        let parts = parts.into_iter().filter(|part| find(part).and_then(absence_reason).is_none());
        let roles: Vec<Value> = [&role.value].into_iter().chain(parts).cloned().collect();
        if rbac::is_aggregated(&role.value) {
            res.unknown.insert(format!("{}, which is aggregated", title()));
        }
        let mut rules = audit::collect_rules(&roles);
        rules.iter_mut().for_each(|rule| rule.namespace = grant.namespace.map(str::to_owned));
        res.roles.push((role, rules));
    }
    res
}

/// Returns why a role or a binding is not on the cluster once a release is installed.
fn absence_reason(object: &RenderedObject) -> Option<String> {
    if !object.is_installed() {
        return Some(format!(
            "{} is a hook and no longer exists after `helm install`",
            object.subject()
        ));
    }
    bindings::refusal(object)
        .map(|refusal| format!("API servers refuse {}: {refusal}", object.subject()))
}

/// Returns the workloads whose account has rights; all if none has.
pub fn operators(rendering: &Rendering) -> Vec<&RenderedObject> {
    let all = all(rendering);
    let has_rights = |object: &&RenderedObject| {
        let bound = bound_roles(rendering, &account_of(rendering, object));
        !bound.roles.is_empty() || !bound.unknown.is_empty()
    };
    let found: Vec<&RenderedObject> = all.iter().copied().filter(has_rights).collect();
    if found.is_empty() { all } else { found }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
