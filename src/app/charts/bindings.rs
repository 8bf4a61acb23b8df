//! Finds the roles and bindings that API servers refuse, as the validation of `rbac.authorization.k8s.io/v1` decides
//! it. Names of objects are not judged.

use super::rendering::RenderedObject;
use go_data::yaml::Value;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Returns why API servers refuse a role or a binding.
pub fn refusal(object: &RenderedObject) -> Option<String> {
    if object.value["apiVersion"] != *format!("{GROUP}/v1") {
        return Some(format!("its `apiVersion` is not `{GROUP}/v1`"));
    }
    if object.is("ClusterRoleBinding") || object.is("RoleBinding") {
        of_binding(&object.value, object.is("ClusterRoleBinding"))
    } else {
        of_role(&object.value, object.is("Role"))
    }
}

fn of_binding(binding: &Value, is_cluster: bool) -> Option<String> {
    let role = &binding["roleRef"];
    if let group @ Some(_) = of_group(role, "roleRef") {
        return group;
    }
    match text_field(role, "kind") {
        "ClusterRole" => {}
        "Role" if !is_cluster => {}
        kind => return Some(format!("`roleRef.kind` is `{kind}`, and must be `ClusterRole`")),
    }
    let subjects = binding["subjects"].as_array().into_iter().flatten().enumerate();
    let fault = |(at, subject): (usize, &Value)| {
        let path = format!("subjects[{at}]");
        let is_missing = |field: &str| text_field(subject, field).is_empty();
        match text_field(subject, "kind") {
            _ if is_missing("name") => Some(format!("`{path}.name` is missing")),
            "User" | "Group" => of_group(subject, &path),
            "ServiceAccount" if !is_missing("apiGroup") => {
                Some(format!("`{path}.apiGroup` is not empty"))
            }
            "ServiceAccount" if is_cluster && is_missing("namespace") => {
                Some(format!("`{path}.namespace` is missing"))
            }
            "ServiceAccount" => None,
            kind => Some(format!("`{path}.kind` is `{kind}`")),
        }
    };
    { subjects }.find_map(fault)
}

/// Returns a server fills in a group that is missing.
fn of_group(value: &Value, path: &str) -> Option<String> {
    match text_field(value, "apiGroup") {
        "" | GROUP => None,
        group => Some(format!("`{path}.apiGroup` is `{group}`, and must be `{GROUP}`")),
    }
}

fn of_role(role: &Value, is_namespaced: bool) -> Option<String> {
    let rules = role["rules"].as_array().into_iter().flatten().enumerate();
    let fault = |(at, rule): (usize, &Value)| {
        let has = |field: &str| rule[field].as_array().is_some_and(|values| !values.is_empty());
        let missing = |field: &str| Some(format!("`rules[{at}].{field}` is missing"));
        let has_resources =
            ["apiGroups", "resources", "resourceNames"].iter().any(|name| has(name));
        let has_urls = has("nonResourceURLs");
        if !has("verbs") {
            missing("verbs")
        } else if has_urls && is_namespaced {
            Some(format!("`rules[{at}].nonResourceURLs` is in a Role"))
        } else if has_urls && has_resources {
            Some(format!("`rules[{at}]` has both resources and `nonResourceURLs`"))
        } else if has_urls {
            None
        } else {
            ["apiGroups", "resources"].into_iter().find(|name| !has(name)).and_then(missing)
        }
    };
    { rules }.find_map(fault)
}

fn text_field<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

#[test]
fn roles_and_bindings_are_refused_as_api_servers_refuse_them() {
    use go_data::yaml::json;
    let check = |kind: &str, part: Value, expected: Option<&str>| {
        let mut value = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind,
            "roleRef": { "kind": "ClusterRole", "name": "a" } });
        for (key, part) in part.as_object().into_iter().flatten() {
            value[key] = part.clone();
        }
        let object = RenderedObject { value, is_own: true, template: None, line: 0 };
        assert_eq!(refusal(&object).as_deref(), expected, "{}", object.value);
    };
    let binding = |part: Value, expected: Option<&str>| {
        check("RoleBinding", part.clone(), expected);
        check("ClusterRoleBinding", part, expected);
    };
    let subject = |value: Value| json!({ "subjects": [value] });
    binding(json!({}), None);
    binding(
        json!({ "apiVersion": "rbac.authorization.k8s.io/v1beta1" }),
        Some("its `apiVersion` is not `rbac.authorization.k8s.io/v1`"),
    );
    binding(
        json!({ "roleRef": { "apiGroup": "foo", "kind": "ClusterRole" } }),
        Some("`roleRef.apiGroup` is `foo`, and must be `rbac.authorization.k8s.io`"),
    );
    binding(
        json!({ "roleRef": { "kind": "Rule" } }),
        Some("`roleRef.kind` is `Rule`, and must be `ClusterRole`"),
    );
    let of_role = json!({ "roleRef": { "apiGroup": GROUP, "kind": "Role" } });
    check("RoleBinding", of_role.clone(), None);
    check(
        "ClusterRoleBinding",
        of_role,
        Some("`roleRef.kind` is `Role`, and must be `ClusterRole`"),
    );
    let account = subject(json!({ "kind": "ServiceAccount", "name": "a" }));
    check("RoleBinding", account.clone(), None);
    check("ClusterRoleBinding", account, Some("`subjects[0].namespace` is missing"));
    binding(subject(json!({ "kind": "ServiceAccount", "name": "a", "namespace": "b" })), None);
    binding(
        subject(
            json!({ "kind": "ServiceAccount", "name": "a", "namespace": "b", "apiGroup": "v1" }),
        ),
        Some("`subjects[0].apiGroup` is not empty"),
    );
    binding(subject(json!({ "kind": "Group", "name": "a" })), None);
    binding(
        subject(json!({ "kind": "User", "name": "a", "apiGroup": "v1" })),
        Some("`subjects[0].apiGroup` is `v1`, and must be `rbac.authorization.k8s.io`"),
    );
    binding(subject(json!({ "kind": "User" })), Some("`subjects[0].name` is missing"));
    binding(
        subject(json!({ "kind": "Robot", "name": "a" })),
        Some("`subjects[0].kind` is `Robot`"),
    );
    let rule = |rule: Value, expected: Option<&str>, in_role: Option<&str>| {
        check("ClusterRole", json!({ "rules": [rule] }), expected);
        check("Role", json!({ "rules": [rule] }), in_role);
    };
    rule(json!({ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] }), None, None);
    rule(
        json!({ "verbs": ["get"], "nonResourceURLs": ["/"] }),
        None,
        Some("`rules[0].nonResourceURLs` is in a Role"),
    );
    for (bad, why) in [
        (json!({ "apiGroups": [""], "resources": ["pods"] }), "`rules[0].verbs` is missing"),
        (json!({ "verbs": ["get"], "resources": ["pods"] }), "`rules[0].apiGroups` is missing"),
        (json!({ "verbs": ["get"], "apiGroups": [""] }), "`rules[0].resources` is missing"),
    ] {
        rule(bad, Some(why), Some(why));
    }
    check(
        "ClusterRole",
        json!({ "rules": [{ "verbs": ["get"], "nonResourceURLs": ["/"], "apiGroups": [""] }] }),
        Some("`rules[0]` has both resources and `nonResourceURLs`"),
    );
}
