//! Which rules become permissions of the CSV, and which RBAC objects remain manifests.
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
    collected::{Collected, RBAC},
    object,
};
use go_data::yaml::{Value, json};
use model::AccountName;

use conflicts::{
    check_aggregation, refuse_rivals, refuse_shared, refuse_unknown, refuse_unknown_accounts,
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

pub fn split<'a>(
    collected: &Collected<'a>,
    extra: &[AccountName],
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Permissions<'a> {
    refuse_unknown_accounts(collected, extra, refusals);
    let mut accounts: BTreeSet<&str> =
        collected.deployments.iter().map(|it| object::service_account(it)).collect();
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
                .filter(|it| is_ours(it, binding, collected, extra, warnings))
                .map(|it| object::text(it, "/name"))
                .collect();
            if subjects.is_empty() && is_known(binding) && !of_name(collected, binding).is_empty() {
                warnings.leave_out(binding, "it has no subjects");
                continue;
            }
            let Some(role) = role(collected, binding, !ours.is_empty(), refusals) else {
                if !ours.is_empty() {
                    elsewhere(binding, collected, warnings);
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
                    moved_rights.extend(moved(binding, collected));
                }
            }
            if ours.len() != subjects.len() {
                kept.push(*binding);
            }
        }
        unknown.iter().for_each(|it| refuse_unknown(it, &granted[before..], refusals));
        entries(rules)
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

/// The service accounts that OLM does not create: no Deployment uses them.
fn other_accounts<'a>(
    collected: &Collected<'a>,
    accounts: &BTreeSet<&str>,
    entries: &[Value],
    warnings: &mut Warnings,
) -> Vec<&'a Value> {
    let mut res = Vec::new();
    for account in &collected.service_accounts {
        let name = object::name(account);
        let has_rules = || entries.iter().any(|it| object::text(it, "/serviceAccountName") == name);
        match accounts.contains(name) {
            true if has_rules() => {
                let lost = lost_of_account(account, collected);
                warnings.lose(account, &lost, "OLM creates the account with its name only; `imagePullSecrets` and `automountServiceAccountToken` can be set in the pods of the Deployment");
            }
            // Every namespace has this one.
            true if name == "default" => {}
            true => warnings.leave_out(account, WITHOUT_RULES),
            false => res.push(*account),
        }
    }
    res
}

const WITHOUT_RULES: &str = "OLM creates the service accounts of the CSV's permissions only, and no Role or ClusterRole here gives it any";

/// The parts of a service account that the one that OLM creates does not have.
fn lost_of_account(account: &Value, collected: &Collected) -> Vec<String> {
    let is_set = |key: &str, value: &Value| match key {
        "apiVersion" | "kind" | "metadata" => false,
        "automountServiceAccountToken" => *value == Value::Bool(false),
        _ => !value.is_null(),
    };
    let fields = account.as_object().into_iter().flatten().filter(|it| is_set(it.0, it.1));
    let mut res: Vec<String> = fields.map(|it| format!("`{}`", it.0)).collect();
    let common = collected.deployments.first().copied().unwrap_or(&Value::Null);
    res.extend(object::own(account, "annotation", common));
    res.extend(object::own(account, "label", common));
    res
}

/// The roles that remain manifests: those that the operator does not have.
fn left_over<'a>(
    granted: &[&Value],
    kept: &[&Value],
    collected: &Collected<'a>,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Vec<&'a Value> {
    let is_in = |list: &[&Value], it: &Value| list.iter().any(|other| std::ptr::eq(*other, it));
    let mut needed: Vec<&Value> = Vec::new();
    for binding in kept {
        if let Some(role) = role(collected, binding, false, &mut Refusals::default()) {
            refuse_shared(role, binding, granted, refusals);
            needed.push(role);
        }
    }
    let mut res = Vec::new();
    for role in [&collected.roles[..], &collected.cluster_roles].concat() {
        let is_rival = |it: &&&Value| {
            [it, role].iter().all(|it| object::kind(it) == "Role")
                && object::name(it) == object::name(role)
        };
        match granted.iter().find(is_rival) {
            _ if is_in(&needed, role) => res.push(role),
            _ if is_in(granted, role) => {
                let common = collected.deployments.first().copied().unwrap_or(&Value::Null);
                let lost: Vec<String> = object::own(role, "label", common).collect();
                warnings.lose(role, &lost, "the CSV has only its rules; a copy of it that no binding gives to the operator stays a manifest, with its labels");
            }
            None => res.push(role),
            Some(rival) => warnings.push(format!(
                "{} of the namespace `{}` is left out of the bundle: the CSV has the rules of the Role of this name in `{}`",
                object::title(role),
                object::namespace(role),
                object::namespace(rival)
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
    extra: &[AccountName],
    warnings: &mut Warnings,
) -> bool {
    let name = object::text(subject, "/name");
    let is_extra = extra.iter().any(|it| it.as_str() == name);
    let mut of_name =
        collected.deployments.iter().filter(|it| object::service_account(it) == name).peekable();
    if object::kind(subject) != "ServiceAccount" || of_name.peek().is_none() && !is_extra {
        return false;
    }
    let namespace = object::text(subject, "/namespace");
    if !is_extra && !of_name.any(|it| object::may_be_same(object::namespace(it), namespace)) {
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

fn entries(rules: BTreeMap<&str, Vec<Value>>) -> Vec<Value> {
    let some = rules.into_iter().filter(|(_, rules)| !rules.is_empty());
    some.map(|(account, rules)| json!({ "rules": rules, "serviceAccountName": account })).collect()
}

fn moved(binding: &Value, collected: &Collected) -> Option<MovedRights> {
    let namespace = collected.foreign_namespace(binding)?;
    (object::kind(binding) == "RoleBinding").then(|| MovedRights {
        binding: object::name(binding).to_owned(),
        namespace: namespace.to_owned(),
        title: object::title(binding),
    })
}

/// The binding of a role that is in the cluster, but not in the bundle.
fn elsewhere(binding: &Value, collected: &Collected, warnings: &mut Warnings) {
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
