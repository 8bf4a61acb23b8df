//! Which rules the CSV asks for, and which RBAC objects stay manifests of their own.
//!
//! OLM makes service accounts, roles and bindings of the CSV's `permissions` (from RoleBindings, in each
//! target namespace) and `clusterPermissions` (from ClusterRoleBindings), for the accounts that the
//! Deployments run as. All else that a bundle can hold stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use super::{Refusals, collected::Collected, object};
use crate::yaml::{Value, json};

#[derive(Default)]
pub struct Permissions<'a> {
    /// `install.spec.permissions`.
    pub namespaced: Vec<Value>,
    /// `install.spec.clusterPermissions`.
    pub cluster: Vec<Value>,
    /// RBAC objects that the CSV does not hold.
    pub manifests: Vec<&'a Value>,
}

pub fn split<'a>(
    collected: &Collected<'a>,
    refusals: &mut Refusals,
    warnings: &mut Vec<String>,
) -> Permissions<'a> {
    let accounts: BTreeSet<&str> =
        collected.deployments.iter().map(|it| object::service_account(it)).collect();
    let mut used = BTreeSet::new();
    let mut kept = Vec::new();
    let mut grant = |bindings: &[&'a Value]| {
        let mut rules: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for binding in bindings {
            let subjects = object::list(binding, "/subjects");
            let ours: Vec<&str> = subjects
                .iter()
                .filter(|it| object::kind(it) == "ServiceAccount")
                .map(|it| object::text(it, "/name"))
                .filter(|it| accounts.contains(it))
                .collect();
            let Some(role) = role(collected, binding).filter(|_| !ours.is_empty()) else {
                if !ours.is_empty() {
                    warnings.push(elsewhere(binding));
                }
                kept.push(*binding);
                continue;
            };
            if role.get("aggregationRule").is_some() {
                refusals.push(
                    format!(
                        "{} is aggregated from other roles in a running cluster, and {} gives it to the operator",
                        object::title(role),
                        object::title(binding)
                    ),
                    "a CSV lists its rules: bind a ClusterRole that has the rules itself",
                );
            }
            for account in &ours {
                rules.entry(account).or_default().extend_from_slice(object::list(role, "/rules"));
            }
            if ours.len() == subjects.len() {
                used.insert(std::ptr::from_ref(role));
            } else {
                // Others have the role by this binding: they would be left with a role that is gone.
                kept.push(*binding);
            }
        }
        entries(rules)
    };
    let namespaced = grant(&collected.role_bindings);
    let cluster = grant(&collected.cluster_role_bindings);

    // A role goes where every binding of it went.
    for binding in &kept {
        if let Some(role) = role(collected, binding) {
            used.remove(&std::ptr::from_ref(role));
        }
    }
    let roles = [&collected.roles[..], &collected.cluster_roles].concat();
    let mut manifests: Vec<&Value> =
        roles.into_iter().filter(|it| !used.contains(&std::ptr::from_ref(*it))).collect();
    manifests.extend(kept);
    let others = |it: &&&Value| !accounts.contains(object::name(it));
    manifests.extend(collected.service_accounts.iter().filter(others));
    Permissions { namespaced, cluster, manifests }
}

/// What `roleRef` refers to, if it is here.
fn role<'a>(collected: &Collected<'a>, binding: &Value) -> Option<&'a Value> {
    let roles = match object::text(binding, "/roleRef/kind") {
        "Role" => &collected.roles,
        "ClusterRole" => &collected.cluster_roles,
        _ => return None,
    };
    if !matches!(object::text(binding, "/roleRef/apiGroup"), "" | "rbac.authorization.k8s.io") {
        return None;
    }
    roles.iter().find(|it| object::name(it) == object::text(binding, "/roleRef/name")).copied()
}

fn entries(rules: BTreeMap<&str, Vec<Value>>) -> Vec<Value> {
    let some = rules.into_iter().filter(|(_, rules)| !rules.is_empty());
    some.map(|(account, rules)| json!({ "rules": rules, "serviceAccountName": account })).collect()
}

/// The binding of a role that the cluster has and the bundle has not.
fn elsewhere(binding: &Value) -> String {
    format!(
        "{} gives the operator `{}`, which is not here: it stays a manifest of its own, and works only if the operator is installed \
         into the namespace that it names",
        object::title(binding),
        object::text(binding, "/roleRef/name")
    )
}
