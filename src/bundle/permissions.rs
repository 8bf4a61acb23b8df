//! Which rules become permissions of the CSV, and which RBAC objects remain manifests.
//!
//! OLM creates service accounts, roles and bindings from the CSV's `permissions` (from RoleBindings, in each
//! target namespace) and `clusterPermissions` (from ClusterRoleBindings), for the accounts that the
//! Deployments use. All other RBAC objects that a bundle can contain remain unchanged.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Refusals,
    collected::{Collected, RBAC},
    object,
};
use crate::yaml::{Value, json};

#[derive(Default)]
pub struct Permissions<'a> {
    /// `install.spec.permissions`.
    pub namespaced: Vec<Value>,
    /// `install.spec.clusterPermissions`.
    pub cluster: Vec<Value>,
    /// RBAC objects that are not part of the CSV.
    pub manifests: Vec<&'a Value>,
}

pub fn split<'a>(
    collected: &Collected<'a>,
    refusals: &mut Refusals,
    warnings: &mut Vec<String>,
) -> Permissions<'a> {
    let accounts: BTreeSet<&str> =
        collected.deployments.iter().map(|it| object::service_account(it)).collect();
    let mut granted: Vec<&Value> = Vec::new();
    let mut kept = Vec::new();
    let mut grant = |bindings: &[&'a Value]| {
        let mut rules: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let mut unknown = Vec::new();
        let before = granted.len();
        for binding in bindings {
            let subjects = object::list(binding, "/subjects");
            let ours: Vec<&str> = subjects
                .iter()
                .filter(|it| is_ours(it, binding, collected, warnings))
                .map(|it| object::text(it, "/name"))
                .collect();
            if subjects.is_empty() && is_known(binding) && !of_name(collected, binding).is_empty() {
                warnings.push(format!(
                    "{} is left out of the bundle: it has no subjects",
                    object::title(binding)
                ));
                continue;
            }
            let Some(role) = role(collected, binding, !ours.is_empty(), refusals) else {
                if !ours.is_empty() {
                    warnings.push(elsewhere(binding));
                    unknown.push(*binding);
                }
                kept.push(*binding);
                continue;
            };
            if !ours.is_empty() {
                check_aggregation(role, binding, refusals);
                granted.push(role);
            }
            for account in &ours {
                rules.entry(account).or_default().extend_from_slice(object::list(role, "/rules"));
            }
            if ours.len() != subjects.len() {
                // Other subjects have the role through this binding, and would lose it.
                kept.push(*binding);
            }
        }
        unknown.iter().for_each(|it| refuse_unknown(it, &granted[before..], refusals));
        entries(rules)
    };
    let namespaced = grant(&collected.role_bindings);
    let cluster = grant(&collected.cluster_role_bindings);

    refuse_rivals(&kept, collected, refusals);
    let mut manifests = left_over(&granted, &kept, collected, warnings);
    manifests.extend(kept);
    let others = |it: &&&Value| !accounts.contains(object::name(it));
    manifests.extend(collected.service_accounts.iter().filter(others));
    Permissions { namespaced, cluster, manifests }
}

/// Of several bindings with one name, operator-sdk writes the last.
fn refuse_rivals(kept: &[&Value], collected: &Collected, refusals: &mut Refusals) {
    let all = [&collected.role_bindings[..], &collected.cluster_role_bindings].concat();
    for binding in kept {
        let id = |it: &Value| (object::kind(it).to_owned(), object::name(it).to_owned());
        if all.iter().rfind(|it| id(it) == id(binding)).is_some_and(|it| it != binding) {
            refusals.push(
                format!("{} occurs twice with different content", object::title(binding)),
                "OLM installs a bundle into one namespace: rename one of them",
            );
        }
    }
}

/// The roles that remain manifests: those that the operator does not have, and those that others also have.
fn left_over<'a>(
    granted: &[&Value],
    kept: &[&Value],
    collected: &Collected<'a>,
    warnings: &mut Vec<String>,
) -> Vec<&'a Value> {
    let is_in = |list: &[&Value], it: &Value| list.iter().any(|other| std::ptr::eq(*other, it));
    let needed: Vec<&Value> =
        kept.iter().filter_map(|it| role(collected, it, false, &mut Refusals::default())).collect();
    let mut res = Vec::new();
    for role in [&collected.roles[..], &collected.cluster_roles].concat() {
        let is_rival = |it: &&&Value| {
            [it, role].iter().all(|it| object::kind(it) == "Role")
                && object::name(it) == object::name(role)
        };
        match granted.iter().find(is_rival) {
            _ if is_in(&needed, role) => res.push(role),
            _ if is_in(granted, role) => {}
            None => res.push(role),
            Some(rival) => warnings.push(format!(
                "{} of the namespace `{}` is left out of the bundle: the CSV has the rules of the Role of this name in `{}`",
                object::title(role),
                object::namespace(role),
                object::namespace(rival),
            )),
        }
    }
    res
}

/// Whether a binding's subject is the service account of a Deployment.
fn is_ours(
    subject: &Value,
    binding: &Value,
    collected: &Collected,
    warnings: &mut Vec<String>,
) -> bool {
    let name = object::text(subject, "/name");
    let mut of_name =
        collected.deployments.iter().filter(|it| object::service_account(it) == name).peekable();
    if object::kind(subject) != "ServiceAccount" || of_name.peek().is_none() {
        return false;
    }
    let namespace = object::text(subject, "/namespace");
    if !of_name.any(|it| object::may_be_same(object::namespace(it), namespace)) {
        // OLM installs all of a bundle into one namespace, whose name is not known yet.
        warnings.push(format!(
            "{} gives rights to the service account `{name}` of the namespace `{namespace}`: in the bundle, the operator's `{name}` has them",
            object::title(binding)
        ));
    }
    true
}

/// The roles with the name in `roleRef`, in any namespace.
fn of_name<'a>(collected: &Collected<'a>, binding: &Value) -> Vec<&'a Value> {
    let kind = object::text(binding, "/roleRef/kind");
    let roles = match (kind, object::kind(binding)) {
        ("Role", "RoleBinding") => &collected.roles,
        _ => &collected.cluster_roles,
    };
    let name = object::text(binding, "/roleRef/name");
    roles.iter().filter(|it| object::name(it) == name).copied().collect()
}

/// What `roleRef` refers to, if it is among the objects.
fn role<'a>(
    collected: &Collected<'a>,
    binding: &Value,
    is_ours: bool,
    refusals: &mut Refusals,
) -> Option<&'a Value> {
    let of_name = of_name(collected, binding);
    let name = object::text(binding, "/roleRef/name");
    if !is_known(binding) {
        return None;
    }
    let namespace = object::namespace(binding);
    // ClusterRoles have no namespace. Objects that are rendered without one are all in the same namespace.
    let exact = of_name.iter().find(|it| object::namespace(it) == namespace);
    let near = || of_name.iter().find(|it| object::may_be_same(object::namespace(it), namespace));
    let role = exact.or_else(near).copied();
    // operator-sdk uses the last one with the name, in any namespace.
    let rules = |it: Option<&Value>| it.and_then(|it| it.get("rules")).cloned();
    if is_ours && !of_name.is_empty() && rules(role) != rules(of_name.last().copied()) {
        refusals.push(
            format!(
                "{} gives the operator the Role `{name}` of the namespace `{namespace}`, and one of this name is in `{}` too: \
                 operator-sdk takes the rules of that one",
                object::title(binding),
                of_name.last().map_or("", |it| object::namespace(it)),
            ),
            "give one of the two another name, and its bindings too",
        );
    }
    role
}

/// Whether `roleRef` refers to a kind that Kubernetes allows.
fn is_known(binding: &Value) -> bool {
    let kind = object::text(binding, "/roleRef/kind");
    matches!(object::text(binding, "/roleRef/apiGroup"), "" | RBAC)
        && (kind == "ClusterRole" || kind == "Role" && object::kind(binding) == "RoleBinding")
}

/// operator-sdk identifies a role that it has already used by the name alone.
fn refuse_unknown(binding: &Value, granted: &[&Value], refusals: &mut Refusals) {
    let kind = match object::kind(binding) {
        "RoleBinding" => object::text(binding, "/roleRef/kind"),
        _ => "ClusterRole",
    };
    let is_meant = |it: &&&Value| {
        object::kind(it) == kind && object::name(it) == object::text(binding, "/roleRef/name")
    };
    if !is_known(binding)
        && let Some(role) = granted.iter().find(is_meant)
    {
        refusals.push(
            format!(
                "{}: its `roleRef` is unknown to Kubernetes, and operator-sdk treats it as {}",
                object::title(binding),
                object::title(role)
            ),
            "fix `roleRef.kind` and `roleRef.apiGroup`",
        );
    }
}

fn check_aggregation(role: &Value, binding: &Value, refusals: &mut Refusals) {
    if role.get("aggregationRule").is_some_and(|it| !it.is_null()) {
        refusals.push(
            format!(
                "{} is aggregated from other roles in a running cluster, and {} gives it to the operator",
                object::title(role),
                object::title(binding)
            ),
            "a CSV needs explicit rules: bind a ClusterRole that lists them",
        );
    }
}

fn entries(rules: BTreeMap<&str, Vec<Value>>) -> Vec<Value> {
    let some = rules.into_iter().filter(|(_, rules)| !rules.is_empty());
    some.map(|(account, rules)| json!({ "rules": rules, "serviceAccountName": account })).collect()
}

/// The binding of a role that is in the cluster, but not in the bundle.
fn elsewhere(binding: &Value) -> String {
    format!(
        "{} gives the operator `{}`, which is not here: it stays a manifest of its own, and works only if the operator is installed \
         into the namespace that it names",
        object::title(binding),
        object::text(binding, "/roleRef/name")
    )
}
