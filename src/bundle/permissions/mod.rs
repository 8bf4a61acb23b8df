//! Which rules become permissions of the CSV, and which RBAC objects remain manifests.
//!
//! OLM creates service accounts, roles and bindings from the CSV's `permissions` (from RoleBindings, in each
//! target namespace) and `clusterPermissions` (from ClusterRoleBindings), for the accounts that the
//! Deployments use, and for further ones that a flag names. All other RBAC objects that a bundle can contain remain unchanged.

mod conflicts;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Refusals,
    collected::{Collected, RBAC},
    explanation::Journal,
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
}

pub fn split<'a>(
    collected: &Collected<'a>,
    extra: &[AccountName],
    refusals: &mut Refusals,
    journal: &mut Journal,
) -> Permissions<'a> {
    refuse_unknown_accounts(collected, extra, refusals);
    let mut accounts: BTreeSet<&str> =
        collected.deployments.iter().map(|it| object::service_account(it)).collect();
    accounts.extend(extra.iter().map(AccountName::as_str));
    let mut granted: Vec<&Value> = Vec::new();
    let mut kept = Vec::new();
    let mut grant = |bindings: &[&'a Value], field: &'static str| {
        let mut rules: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let mut unknown = Vec::new();
        let before = granted.len();
        for binding in bindings {
            let subjects = object::list(binding, "/subjects");
            let ours: Vec<&str> = subjects
                .iter()
                .filter(|it| is_ours(it, binding, collected, extra, journal))
                .map(|it| object::text(it, "/name"))
                .collect();
            if subjects.is_empty() && is_known(binding) && !of_name(collected, binding).is_empty() {
                journal.leave_out(binding, "it has no subjects");
                continue;
            }
            let Some(role) = role(collected, binding, !ours.is_empty(), refusals) else {
                match ours.is_empty() {
                    true => {
                        note_others(binding, journal);
                        note_homes(binding, &ours, collected, journal);
                    }
                    false => {
                        elsewhere(binding, collected, journal);
                        unknown.push(*binding);
                    }
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
                record(binding, role, (field, account), collected, journal);
            }
            if ours.len() != subjects.len() {
                if ours.is_empty() {
                    note_others(binding, journal);
                }
                note_homes(binding, &ours, collected, journal);
                kept.push(*binding);
            }
        }
        unknown.iter().for_each(|it| refuse_unknown(it, &granted[before..], refusals));
        entries(rules)
    };
    let namespaced = grant(&collected.role_bindings, "spec.install.spec.permissions");
    let cluster = grant(&collected.cluster_role_bindings, "spec.install.spec.clusterPermissions");

    refuse_rivals(&kept, collected, refusals);
    let mut manifests = left_over(&granted, &kept, collected, refusals, journal);
    manifests.extend(kept);
    manifests.extend(other_accounts(
        collected,
        &accounts,
        &[&namespaced[..], &cluster].concat(),
        journal,
    ));
    Permissions { namespaced, cluster, manifests }
}

/// Records that an account has a role's rules in a field of the CSV.
fn record(
    binding: &Value,
    role: &Value,
    (field, account): (&'static str, &str),
    collected: &Collected,
    journal: &mut Journal,
) {
    if object::list(role, "/rules").is_empty() {
        journal.note(role, "it has no rules");
        journal.note(binding, format!("{} has no rules", object::reference(role)));
        return;
    }
    moved(binding, role, collected, journal);
    journal.csv_through(role, field, account, binding);
    journal.csv_through(binding, field, account, role);
}

/// The service accounts that OLM does not create: no Deployment uses them.
fn other_accounts<'a>(
    collected: &Collected<'a>,
    accounts: &BTreeSet<&str>,
    entries: &[Value],
    journal: &mut Journal,
) -> Vec<&'a Value> {
    let mut res = Vec::new();
    for account in &collected.service_accounts {
        let name = object::name(account);
        let has_rules = || entries.iter().any(|it| object::text(it, "/serviceAccountName") == name);
        match accounts.contains(name) {
            true if has_rules() => {
                journal.note(account, "OLM creates the service accounts of the CSV's permissions");
                let lost = lost_of_account(account, collected);
                journal.lose(account, &lost, "OLM creates the account with its name only; `imagePullSecrets` and `automountServiceAccountToken` can be set in the pods of the Deployment");
            }
            // Every namespace has this one.
            true if name == "default" => journal.note(account, WITHOUT_RULES),
            true => journal.leave_out(account, WITHOUT_RULES),
            false => {
                journal.note(account, "no Deployment uses it");
                res.push(*account);
            }
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

/// Notes that a binding, which stays a manifest, is about others than the operator.
fn note_others(binding: &Value, journal: &mut Journal) {
    journal.note(binding, "none of its subjects is a service account of the operator");
}

/// Notes which subjects of a binding are in the bundle, and so in the namespace that the user chooses, which the binding
/// does not know.
fn note_homes(binding: &Value, ours: &[&str], collected: &Collected, journal: &mut Journal) {
    for subject in object::list(binding, "/subjects") {
        let (name, namespace) = (object::name_of(subject), object::text(subject, "/namespace"));
        let is = |it: &&&Value| {
            object::name(it) == name && object::may_be_same(object::namespace(it), namespace)
        };
        if object::kind(subject) == "ServiceAccount"
            && !namespace.is_empty()
            && !ours.contains(&name)
            && collected.service_accounts.iter().any(|it| is(&it))
        {
            let note = format!(
                "its subject `{name}` is that of the namespace `{namespace}`, so it works only if the operator is installed there; with \
                 `--extra-service-accounts {name}`, OLM creates the binding for the namespace that the user chooses"
            );
            journal.note(binding, note);
        }
    }
}

/// The roles that remain manifests: those that the operator does not have.
fn left_over<'a>(
    granted: &[&Value],
    kept: &[&Value],
    collected: &Collected<'a>,
    refusals: &mut Refusals,
    journal: &mut Journal,
) -> Vec<&'a Value> {
    let is_in = |list: &[&Value], it: &Value| list.iter().any(|other| std::ptr::eq(*other, it));
    let mut needed: Vec<&Value> = Vec::new();
    for binding in kept {
        if let Some(role) = role(collected, binding, false, &mut Refusals::default()) {
            refuse_shared(role, binding, granted, refusals);
            journal.note(role, format!("{} needs it", object::reference(binding)));
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
                journal.lose(role, &lost, "the CSV has only its rules; a copy of it that no binding gives to the operator stays a manifest, with its labels");
            }
            None => {
                journal.note(role, "no binding here gives it to a service account of the operator");
                res.push(role);
            }
            Some(rival) => {
                let reason = format!(
                    "the CSV has the rules of the Role of this name in `{}`",
                    object::namespace(rival)
                );
                journal.warn(format!(
                    "{} of the namespace `{}` is left out of the bundle: {reason}",
                    object::title(role),
                    object::namespace(role),
                ));
                journal.note(role, reason);
            }
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
    journal: &mut Journal,
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
        let note = format!(
            "gives rights to the service account `{name}` of the namespace `{namespace}`: in the bundle, the operator's `{name}` has them"
        );
        journal.warn(format!("{} {note}", object::title(binding)));
        journal.note(binding, format!("it {note}"));
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

/// Rights in a namespace that is not the operator's: the CSV cannot name it.
fn moved(binding: &Value, role: &Value, collected: &Collected, journal: &mut Journal) {
    if object::kind(binding) != "RoleBinding" {
        return;
    }
    let Some(namespace) = collected.foreign_namespace(binding) else { return };
    let note = format!(
        "gives rights in the namespace `{namespace}`, which a CSV cannot name: OLM gives them in the namespace of the operator and in \
         those of its OperatorGroup, so in `{namespace}` only if it is one of them; a ClusterRole and a ClusterRoleBinding give them \
         everywhere"
    );
    journal.warn(format!("{} {note}", object::title(binding)));
    journal.note(binding, format!("it {note}"));
    let reference = object::reference(binding);
    journal.note(role, format!("with {reference}, its rules are no longer for `{namespace}`"));
}

/// The binding of a role that is in the cluster, but not in the bundle.
fn elsewhere(binding: &Value, collected: &Collected, journal: &mut Journal) {
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
    journal.warn(format!("{} {note}", object::title(binding)));
    journal.note(binding, format!("it {note}"));
}
