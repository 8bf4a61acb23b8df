//! RBAC that operator-sdk reads in another way than the cluster: it is refused.

use std::collections::BTreeSet;

use super::{
    super::{Refusals, collected::Collected, object},
    is_known,
};
use go_data::yaml::Value;
use model::AccountName;

/// operator-sdk ignores an additional service account that does not exist.
pub fn refuse_unknown_accounts(
    collected: &Collected,
    extra: &[AccountName],
    refusals: &mut Refusals,
) {
    let bindings = [&collected.role_bindings[..], &collected.cluster_role_bindings].concat();
    let bound = bindings.iter().flat_map(|it| object::list(it, "/subjects"));
    let bound = bound.filter(|it| object::kind(it) == "ServiceAccount").map(object::name_of);
    let known: BTreeSet<&str> =
        collected.service_accounts.iter().map(|it| object::name(it)).chain(bound).collect();
    for name in extra.iter().filter(|it| !known.contains(it.as_str())) {
        let known: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
        refusals.push(
            format!("`--extra-service-accounts {name}`: there is no ServiceAccount `{name}`"),
            format!("the service accounts here are {}", known.join(", ")),
        );
    }
}

/// Of several bindings with one name, operator-sdk writes the last.
pub fn refuse_rivals(kept: &[&Value], collected: &Collected, refusals: &mut Refusals) {
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

/// operator-sdk leaves out every role that the operator has, also if others need it.
pub fn refuse_shared(role: &Value, binding: &Value, granted: &[&Value], refusals: &mut Refusals) {
    let id = |it: &Value| (object::kind(it).to_owned(), object::name(it).to_owned());
    if granted.iter().any(|it| id(it) == id(role)) {
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

/// operator-sdk identifies a role that it has already used by the name alone.
pub fn refuse_unknown(binding: &Value, granted: &[&Value], refusals: &mut Refusals) {
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

pub fn check_aggregation(role: &Value, binding: &Value, refusals: &mut Refusals) {
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
