//! Finds the rights that an account has by the roles and bindings among some objects, as Kubernetes' RBAC authorizer
//! grants them: through which binding, by which role, and in which namespace.
//!
//! No other module decides this. This one judges objects as they are on a server: names, namespaces and
//! references have their final values. It does not judge whether an API server accepts the objects.

use crate::yaml::{
    Value,
    pointer::{list, text},
};

pub const GROUP: &str = "rbac.authorization.k8s.io";

/// A ServiceAccount, and the namespace of objects that name none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    /// The namespace into which a client puts the objects that name none.
    pub default_namespace: &'a str,
}

/// A binding of an account, with the role that it gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grant<'a> {
    pub binding: &'a Value,
    /// `None` if the role is not among the objects.
    pub role: Option<&'a Value>,
    /// The namespace in which the rules of the role hold; `None` for everywhere.
    pub namespace: Option<&'a str>,
}

/// Collects the bindings of an account among objects, in their order.
pub fn collect_grants<'a>(objects: &[&'a Value], account: Account<'a>) -> Vec<Grant<'a>> {
    let bindings = objects.iter().filter(|object| binds_account(object, account));
    bindings
        .map(|binding| Grant {
            binding,
            role: role_of(objects, binding, account.default_namespace),
            namespace: is_kind(binding, "RoleBinding")
                .then(|| namespace_of(binding, account.default_namespace)),
        })
        .collect()
}

/// Returns whether an object is a binding whose subjects include an account.
pub fn binds_account(object: &Value, account: Account<'_>) -> bool {
    is_binding(object)
        && list(object, "/subjects")
            .iter()
            .any(|subject| includes_account(subject, object, account))
}

pub fn is_binding(object: &Value) -> bool {
    is_kind(object, "RoleBinding") || is_kind(object, "ClusterRoleBinding")
}

/// Returns the role that a binding refers to, if it is among the objects.
pub fn role_of<'a>(
    objects: &[&'a Value],
    binding: &Value,
    default_namespace: &str,
) -> Option<&'a Value> {
    let kind = text(binding, "/roleRef/kind");
    let is_referenced = |object: &&&Value| {
        is_kind(object, kind)
            && text(object, "/metadata/name") == text(binding, "/roleRef/name")
            && match kind {
                "ClusterRole" => true,
                "Role" => {
                    is_kind(binding, "RoleBinding")
                        && namespace_of(object, default_namespace)
                            == namespace_of(binding, default_namespace)
                }
                _ => false,
            }
    };
    objects.iter().find(is_referenced).copied()
}

/// Collects the ClusterRoles whose rules a cluster adds to an aggregated ClusterRole, among these objects.
pub fn aggregated_into<'a>(objects: &[&'a Value], role: &Value) -> Vec<&'a Value> {
    let selectors = list(role, "/aggregationRule/clusterRoleSelectors");
    let selectors = selectors.iter().filter_map(|selector| selector["matchLabels"].as_object());
    let mut roles = Vec::new();
    for wanted in selectors {
        let is_selected = |object: &&&Value| {
            let labels = &object["metadata"]["labels"];
            is_kind(object, "ClusterRole")
                && wanted.iter().all(|(name, value)| labels.get(name) == Some(value))
        };
        roles.extend(objects.iter().filter(is_selected).copied());
    }
    roles
}

/// Returns whether a ClusterRole has rules that only a cluster knows.
pub fn is_aggregated(role: &Value) -> bool {
    role.get("aggregationRule").is_some_and(|rule| !rule.is_null())
}

/// Returns the namespace of an object, or the one into which a client puts it.
pub fn namespace_of<'a>(object: &'a Value, default_namespace: &'a str) -> &'a str {
    match text(object, "/metadata/namespace") {
        "" => default_namespace,
        namespace => namespace,
    }
}

/// Returns whether a subject of a binding is an account, or a group that the account is in.
fn includes_account(subject: &Value, binding: &Value, account: Account<'_>) -> bool {
    let Account { namespace, name, default_namespace } = account;
    let subject_name = text(subject, "/name");
    match text(subject, "/kind") {
        "ServiceAccount" => {
            let subject_namespace = match text(subject, "/namespace") {
                // A ClusterRoleBinding has no namespace that its subjects could be in.
                "" if is_kind(binding, "ClusterRoleBinding") => return false,
                "" => namespace_of(binding, default_namespace),
                written => written,
            };
            subject_name == name && subject_namespace == namespace
        }
        "User" => subject_name == format!("system:serviceaccount:{namespace}:{name}"),
        "Group" => {
            ["system:serviceaccounts", "system:authenticated"].contains(&subject_name)
                || subject_name == format!("system:serviceaccounts:{namespace}")
        }
        _ => false,
    }
}

fn is_kind(object: &Value, kind: &str) -> bool {
    let version = text(object, "/apiVersion");
    object["kind"] == kind && version.split_once('/').is_some_and(|(group, _)| group == GROUP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::json;

    const ACCOUNT: Account<'_> =
        Account { namespace: "home", name: "operator", default_namespace: "home" };

    fn object(kind: &str, name: &str, namespace: &str, rest: Value) -> Value {
        let mut object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": kind,
            "metadata": { "name": name },
        });
        if !namespace.is_empty() {
            object["metadata"]["namespace"] = namespace.into();
        }
        for (key, value) in rest.as_object().into_iter().flatten() {
            object[key] = value.clone();
        }
        object
    }

    fn binding(kind: &str, namespace: &str, role: (&str, &str), subject: Value) -> Value {
        let reference = json!({ "kind": role.0, "name": role.1 });
        object(kind, "b", namespace, json!({ "roleRef": reference, "subjects": [subject] }))
    }

    fn operator() -> Value {
        json!({ "kind": "ServiceAccount", "name": "operator", "namespace": "home" })
    }

    /// The role and the namespace of each grant, as text: `Role/a in infra`.
    fn check(objects: &[Value], expected: &[&str]) {
        let objects: Vec<&Value> = objects.iter().collect();
        let shown = |grant: &Grant<'_>| {
            let role = grant.role.map_or("unknown".to_owned(), |role| {
                format!("{}/{}", text(role, "/kind"), text(role, "/metadata/name"))
            });
            format!("{role} in {}", grant.namespace.unwrap_or("*"))
        };
        let found: Vec<String> = collect_grants(&objects, ACCOUNT).iter().map(shown).collect();
        assert_eq!(found, expected, "{objects:#?}");
    }

    #[test]
    fn a_role_holds_where_its_binding_is() {
        let role = object("Role", "a", "infra", json!({}));
        let cluster_role = object("ClusterRole", "c", "", json!({}));
        let bound = |namespace: &str| binding("RoleBinding", namespace, ("Role", "a"), operator());
        check(&[role.clone(), bound("infra")], &["Role/a in infra"]);
        // A binding sees the Roles of its own namespace only.
        check(&[role.clone(), bound("home")], &["unknown in home"]);
        check(&[role.clone(), bound("")], &["unknown in home"]);
        check(std::slice::from_ref(&role), &[]);
        let local = binding("RoleBinding", "users", ("ClusterRole", "c"), operator());
        check(&[cluster_role.clone(), local], &["ClusterRole/c in users"]);
        let everywhere = binding("ClusterRoleBinding", "", ("ClusterRole", "c"), operator());
        check(&[cluster_role, everywhere], &["ClusterRole/c in *"]);
        let wrong = binding("ClusterRoleBinding", "", ("Role", "a"), operator());
        check(&[role, wrong], &["unknown in *"]);
    }

    #[test]
    fn an_account_is_bound_by_its_name_and_by_its_groups() {
        let check = |kind: &str, subject: Value, expected: bool| {
            let binding = binding(kind, "infra", ("ClusterRole", "c"), subject);
            assert_eq!(binds_account(&binding, ACCOUNT), expected, "{binding}");
        };
        let account = |namespace: &str| json!({ "kind": "ServiceAccount", "name": "operator", "namespace": namespace });
        let named = |kind: &str, name: &str| json!({ "kind": kind, "name": name });
        for kind in ["RoleBinding", "ClusterRoleBinding"] {
            check(kind, account("home"), true);
            check(kind, account("infra"), false);
            check(kind, named("User", "system:serviceaccount:home:operator"), true);
            check(kind, named("User", "operator"), false);
            check(kind, named("Group", "system:serviceaccounts"), true);
            check(kind, named("Group", "system:authenticated"), true);
            check(kind, named("Group", "system:serviceaccounts:home"), true);
            check(kind, named("Group", "system:serviceaccounts:infra"), false);
            // Without a namespace, it is an account in that of the binding.
            check(kind, named("ServiceAccount", "operator"), false);
        }
        let local = named("ServiceAccount", "operator");
        let binding = binding("RoleBinding", "home", ("ClusterRole", "c"), local);
        assert!(binds_account(&binding, ACCOUNT));
    }

    #[test]
    fn a_cluster_adds_the_rules_of_labelled_roles() {
        let labels = |name: &str, value: &str| {
            let mut role = object("ClusterRole", name, "", json!({}));
            role["metadata"]["labels"] = json!({ "to": value });
            role
        };
        let rule = json!({ "clusterRoleSelectors": [{ "matchLabels": { "to": "c" } }] });
        let whole = object("ClusterRole", "c", "", json!({ "aggregationRule": rule }));
        let parts = [labels("a", "c"), labels("b", "d"), object("Role", "e", "n", json!({}))];
        let parts: Vec<&Value> = parts.iter().collect();
        assert_eq!(aggregated_into(&parts, &whole), [parts[0]]);
        assert!(is_aggregated(&whole) && !is_aggregated(parts[0]));
    }
}
