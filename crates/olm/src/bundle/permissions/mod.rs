//! Divides RBAC into permissions of the CSV and objects that remain manifests.
//!
//! OLM creates service accounts, roles and bindings from the CSV's `permissions` (from RoleBindings, in each
//! target namespace) and `clusterPermissions` (from ClusterRoleBindings), for the accounts that the
//! Deployments use, and for further ones that a flag names. All other RBAC objects that a bundle can contain remain unchanged.

mod conflicts;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    Refusals, Warnings,
    collected::{RBAC, SortedObjects},
    object,
};
use go_data::yaml::{Value, json};
use model::AccountName;

use conflicts::{
    check_aggregation, refuse_rivals, refuse_shared, refuse_unknown_accounts,
    refuse_unknown_role_kind,
};

#[derive(Default)]
pub struct Permissions<'a> {
    /// `install.spec.permissions`.
    pub namespaced: Vec<Value>,
    /// `install.spec.clusterPermissions`.
    pub cluster: Vec<Value>,
    /// RBAC objects that are not part of the CSV.
    pub manifests: Vec<&'a Value>,
    pub moved: Vec<MovedRights>,
}

/// Rights in a namespace that is not the operator's: the CSV cannot name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedRights {
    /// The name of the RoleBinding that gives them.
    pub binding: String,
    pub namespace: String,
    /// The binding as messages name it.
    pub title: String,
}

impl fmt::Display for MovedRights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, title, .. } = self;
        write!(
            f,
            "{title} gives rights in the namespace `{namespace}`, which a CSV cannot name: OLM gives them in the namespace of the operator and in \
             those of its OperatorGroup, so in `{namespace}` only if it is one of them; a ClusterRole and a ClusterRoleBinding give them \
             everywhere"
        )
    }
}

pub fn split_permissions<'a>(
    collected: &SortedObjects<'a>,
    extra: &[AccountName],
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Permissions<'a> {
    refuse_unknown_accounts(collected, extra, refusals);
    let mut accounts: BTreeSet<&str> = collected
        .deployments
        .iter()
        .map(|deployment| object::service_account(deployment))
        .collect();
    accounts.extend(extra.iter().map(AccountName::as_str));
    let mut granted: Vec<&Value> = Vec::new();
    let mut kept = Vec::new();
    let mut moved_rights = Vec::new();
    let mut grant = |bindings: &[&'a Value]| {
        let mut rules: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let mut unknown = Vec::new();
        let before = granted.len();
        for binding in bindings {
            let subjects = object::list(binding, "/subjects");
            let ours: Vec<&str> = subjects
                .iter()
                .filter(|subject| is_operator_account(subject, binding, collected, extra, warnings))
                .map(|subject| object::text(subject, "/name"))
                .collect();
            if subjects.is_empty()
                && has_known_role_kind(binding)
                && !roles_named_by(collected, binding).is_empty()
            {
                warnings.leave_out(binding, "it has no subjects");
                continue;
            }
            let Some(role) = resolve_role(collected, binding, !ours.is_empty(), refusals) else {
                if !ours.is_empty() {
                    warn_of_missing_role(binding, collected, warnings);
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
                let given = object::list(role, "/rules");
                rules.entry(account).or_default().extend_from_slice(given);
                if !given.is_empty() {
                    moved_rights.extend(find_moved_rights(binding, collected));
                }
            }
            if ours.len() != subjects.len() {
                kept.push(*binding);
            }
        }
        unknown
            .iter()
            .for_each(|binding| refuse_unknown_role_kind(binding, &granted[before..], refusals));
        permission_entries(rules)
    };
    let namespaced = grant(&collected.role_bindings);
    let cluster = grant(&collected.cluster_role_bindings);

    refuse_rivals(&kept, collected, refusals);
    let mut manifests = left_over(&granted, &kept, collected, refusals, warnings);
    manifests.extend(kept);
    manifests.extend(other_accounts(
        collected,
        &accounts,
        &[&namespaced[..], &cluster].concat(),
        warnings,
    ));
    Permissions { namespaced, cluster, manifests, moved: moved_rights }
}

/// Returns the service accounts that OLM does not create, because no Deployment uses them.
fn other_accounts<'a>(
    collected: &SortedObjects<'a>,
    accounts: &BTreeSet<&str>,
    entries: &[Value],
    warnings: &mut Warnings,
) -> Vec<&'a Value> {
    let mut accounts_outside = Vec::new();
    for account in &collected.service_accounts {
        let name = object::name(account);
        let has_rules =
            || entries.iter().any(|entry| object::text(entry, "/serviceAccountName") == name);
        if !accounts.contains(name) {
            accounts_outside.push(*account);
        } else if has_rules() {
            let lost = lost_account_parts(account, collected);
            warnings.warn_of_lost_parts(account, &lost, "OLM creates the account with its name only; `imagePullSecrets` and `automountServiceAccountToken` can be set in the pods of the Deployment");
        } else if name != "default" {
            // Every namespace has the account `default`.
            warnings.leave_out(account, WITHOUT_RULES);
        }
    }
    accounts_outside
}

const WITHOUT_RULES: &str = "OLM creates the service accounts of the CSV's permissions only, and no Role or ClusterRole here gives it any";

/// Returns the parts of a service account that are lost, because OLM creates the account without them.
fn lost_account_parts(account: &Value, collected: &SortedObjects) -> Vec<String> {
    let is_set = |key: &str, value: &Value| match key {
        "apiVersion" | "kind" | "metadata" => false,
        "automountServiceAccountToken" => *value == Value::Bool(false),
        _ => !value.is_null(),
    };
    let fields = account.as_object().into_iter().flatten().filter(|field| is_set(field.0, field.1));
    let mut lost: Vec<String> = fields.map(|field| format!("`{}`", field.0)).collect();
    let common = collected.deployments.first().copied().unwrap_or(&Value::Null);
    lost.extend(object::distinct_metadata(account, "annotation", common));
    lost.extend(object::distinct_metadata(account, "label", common));
    lost
}

/// Returns the roles that remain manifests, because the operator does not have them.
fn left_over<'a>(
    granted: &[&Value],
    kept: &[&Value],
    collected: &SortedObjects<'a>,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Vec<&'a Value> {
    let is_in =
        |list: &[&Value], object: &Value| list.iter().any(|other| std::ptr::eq(*other, object));
    let mut needed: Vec<&Value> = Vec::new();
    for binding in kept {
        if let Some(role) = resolve_role(collected, binding, false, &mut Refusals::default()) {
            refuse_shared(role, binding, granted, refusals);
            needed.push(role);
        }
    }
    let mut roles = Vec::new();
    for role in [&collected.roles[..], &collected.cluster_roles].concat() {
        let is_rival = |other: &&&Value| {
            [other, role].iter().all(|either| object::kind(either) == "Role")
                && object::name(other) == object::name(role)
        };
        match granted.iter().find(is_rival) {
            _ if is_in(&needed, role) => roles.push(role),
            _ if is_in(granted, role) => {
                let common = collected.deployments.first().copied().unwrap_or(&Value::Null);
                let lost: Vec<String> = object::distinct_metadata(role, "label", common).collect();
                warnings.warn_of_lost_parts(role, &lost, "the CSV has only its rules; a copy of it that no binding gives to the operator stays a manifest, with its labels");
            }
            None => roles.push(role),
            Some(rival) => warnings.push(format!(
                "{} of the namespace `{}` is left out of the bundle: the CSV has the rules of the Role of this name in `{}`",
                object::title(role),
                object::namespace(role),
                object::namespace(rival)
            )),
        }
    }
    roles
}

/// Returns whether a binding's subject is the service account of a Deployment.
fn is_operator_account(
    subject: &Value,
    binding: &Value,
    collected: &SortedObjects,
    extra: &[AccountName],
    warnings: &mut Warnings,
) -> bool {
    let name = object::text(subject, "/name");
    let is_extra = extra.iter().any(|account| account.as_str() == name);
    let mut deployments = collected
        .deployments
        .iter()
        .filter(|deployment| object::service_account(deployment) == name)
        .peekable();
    if object::kind(subject) != "ServiceAccount" || deployments.peek().is_none() && !is_extra {
        return false;
    }
    let namespace = object::text(subject, "/namespace");
    if !is_extra
        && !deployments
            .any(|deployment| object::may_be_same(object::namespace(deployment), namespace))
    {
        // OLM installs all of a bundle into one namespace, whose name is not known yet.
        warnings.push(format!(
            "{} gives rights to the service account `{name}` of the namespace `{namespace}`: in the bundle, the operator's `{name}` has them",
            object::title(binding)
        ));
    }
    true
}

/// Returns the roles with the name in `roleRef`, in any namespace.
fn roles_named_by<'a>(collected: &SortedObjects<'a>, binding: &Value) -> Vec<&'a Value> {
    let kind = object::text(binding, "/roleRef/kind");
    let roles = match (kind, object::kind(binding)) {
        ("Role", "RoleBinding") => &collected.roles,
        _ => &collected.cluster_roles,
    };
    let name = object::text(binding, "/roleRef/name");
    roles.iter().filter(|role| object::name(role) == name).copied().collect()
}

/// Returns the role that `roleRef` refers to, if it is among the objects.
fn resolve_role<'a>(
    collected: &SortedObjects<'a>,
    binding: &Value,
    is_ours: bool,
    refusals: &mut Refusals,
) -> Option<&'a Value> {
    let of_name = roles_named_by(collected, binding);
    let name = object::text(binding, "/roleRef/name");
    if !has_known_role_kind(binding) {
        return None;
    }
    let namespace = object::namespace(binding);
    // ClusterRoles have no namespace. Objects that are rendered without one are all in the same namespace.
    let exact = of_name.iter().find(|role| object::namespace(role) == namespace);
    let near =
        || of_name.iter().find(|role| object::may_be_same(object::namespace(role), namespace));
    let role = exact.or_else(near).copied();
    // operator-sdk uses the last one with the name, in any namespace.
    let rules = |role: Option<&Value>| role.and_then(|object| object.get("rules")).cloned();
    if is_ours && !of_name.is_empty() && rules(role) != rules(of_name.last().copied()) {
        refusals.push(
            format!(
                "{} gives the operator the Role `{name}` of the namespace `{namespace}`, and one of this name is in `{}` too: \
                 operator-sdk takes the rules of that one",
                object::title(binding),
                of_name.last().map_or("", |role| object::namespace(role)),
            ),
            "give one of the two another name, and its bindings too",
        );
    }
    role
}

/// Returns whether `roleRef` refers to a kind that Kubernetes allows.
fn has_known_role_kind(binding: &Value) -> bool {
    let kind = object::text(binding, "/roleRef/kind");
    matches!(object::text(binding, "/roleRef/apiGroup"), "" | RBAC)
        && (kind == "ClusterRole" || kind == "Role" && object::kind(binding) == "RoleBinding")
}

fn permission_entries(rules: BTreeMap<&str, Vec<Value>>) -> Vec<Value> {
    let some = rules.into_iter().filter(|(_, rules)| !rules.is_empty());
    some.map(|(account, rules)| json!({ "rules": rules, "serviceAccountName": account })).collect()
}

fn find_moved_rights(binding: &Value, collected: &SortedObjects) -> Option<MovedRights> {
    let namespace = collected.foreign_namespace(binding)?;
    (object::kind(binding) == "RoleBinding").then(|| MovedRights {
        binding: object::name(binding).to_owned(),
        namespace: namespace.to_owned(),
        title: object::title(binding),
    })
}

/// Warns that a binding gives the operator a role that is not in the bundle.
fn warn_of_missing_role(binding: &Value, collected: &SortedObjects, warnings: &mut Warnings) {
    let role = object::text(binding, "/roleRef/name");
    let of_role = object::text(binding, "/roleRef/kind") == "Role";
    let note = match collected.foreign_namespace(binding).filter(|_| of_role) {
        // The subject is in one namespace and the Role in another, and OLM creates the binding in the operator's.
        Some(namespace) => format!(
            "gives the operator the Role `{role}` of the namespace `{namespace}`, which is not here: it remains a separate manifest, and OLM \
             creates it in the namespace of the operator, which has this Role only if it is `{namespace}`: give the operator a ClusterRole \
             with the same rules"
        ),
        None => format!(
            "gives the operator `{role}`, which is not here: it remains a separate manifest, and works only if the operator is installed \
             into the namespace that it names"
        ),
    };
    warnings.push(format!("{} {note}", object::title(binding)));
}
