//! Refuses RBAC that operator-sdk interprets differently from a cluster.

use std::collections::BTreeSet;

use super::{
    super::{Refusals, collected::SortedObjects, object},
    has_known_role_kind,
};
use go_data::yaml::Value;
use model::AccountName;

/// Refuses additional service accounts that do not exist: operator-sdk ignores them.
pub fn refuse_unknown_accounts(
    collected: &SortedObjects,
    extra: &[AccountName],
    refusals: &mut Refusals,
) {
    let bindings = [&collected.role_bindings[..], &collected.cluster_role_bindings].concat();
    let bound = bindings.iter().flat_map(|binding| object::list(binding, "/subjects"));
    let bound =
        bound.filter(|subject| object::kind(subject) == "ServiceAccount").map(object::name_of);
    let known: BTreeSet<&str> = collected
        .service_accounts
        .iter()
        .map(|account| object::name(account))
        .chain(bound)
        .collect();
    for name in extra.iter().filter(|account| !known.contains(account.as_str())) {
        let known: Vec<String> = known.iter().map(|account| format!("`{account}`")).collect();
        refusals.push(
            format!("`--extra-service-accounts {name}`: there is no ServiceAccount `{name}`"),
            format!("the service accounts here are {}", known.join(", ")),
        );
    }
}

/// Refuses different bindings with one name: operator-sdk writes only the last of them.
pub fn refuse_rivals(kept: &[&Value], collected: &SortedObjects, refusals: &mut Refusals) {
    let bindings = [&collected.role_bindings[..], &collected.cluster_role_bindings].concat();
    for binding in kept {
        let id =
            |object: &Value| (object::kind(object).to_owned(), object::name(object).to_owned());
        if bindings
            .iter()
            .rfind(|other| id(other) == id(binding))
            .is_some_and(|last| last != binding)
        {
            refusals.push(
                format!("{} occurs twice with different content", object::title(binding)),
                "OLM installs a bundle into one namespace: rename one of them",
            );
        }
    }
}

/// Refuses roles of the operator that others need, too: operator-sdk leaves these out.
pub fn refuse_shared(role: &Value, binding: &Value, granted: &[&Value], refusals: &mut Refusals) {
    let id = |object: &Value| (object::kind(object).to_owned(), object::name(object).to_owned());
    if granted.iter().any(|other| id(other) == id(role)) {
        refusals.push(
            format!(
                "{} gives {} to others, and the operator has it too: operator-sdk leaves out the role, so that the binding refers to nothing",
                object::title(binding),
                object::title(role)
            ),
            "bind the others to a copy of the role with another name; if they are service accounts that OLM should create, use \
             `--extra-service-accounts`",
        );
    }
}

/// Refuses a `roleRef` of an unknown kind: operator-sdk identifies a role that it has already used by the name alone.
pub fn refuse_unknown_role_kind(binding: &Value, granted: &[&Value], refusals: &mut Refusals) {
    let kind = match object::kind(binding) {
        "RoleBinding" => object::text(binding, "/roleRef/kind"),
        _ => "ClusterRole",
    };
    let is_meant = |role: &&&Value| {
        object::kind(role) == kind && object::name(role) == object::text(binding, "/roleRef/name")
    };
    if !has_known_role_kind(binding)
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

pub fn check_aggregation(role: &Value, binding: &Value, refusals: &mut Refusals) {
    if role.get("aggregationRule").is_some_and(|rule| !rule.is_null()) {
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
