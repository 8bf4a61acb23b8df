//! Whether an operator is already deployed to another namespace.

use super::Removal;
use crate::yaml::Value;

/// The namespace that a binding of ours is for, if it is not the requested one: cluster-scoped objects exist once, so a
/// second operator would take them from the first.
pub fn elsewhere<'a>(live: &'a Value, removal: &Removal, object: &Value) -> Option<&'a str> {
    let is_binding = object["kind"] == "ClusterRoleBinding" && removal.is_created();
    let subjects = |it: &'a Value| it["subjects"].as_array().into_iter().flatten();
    let wanted: Vec<&Value> = object["subjects"].as_array().into_iter().flatten().collect();
    if !is_binding || wanted.is_empty() {
        return None;
    }
    let same = |a: &Value, b: &Value| a["kind"] == b["kind"] && a["name"] == b["name"];
    subjects(live).find_map(|it| {
        let other = wanted.iter().find(|wanted| same(wanted, it))?;
        let namespace = it["namespace"].as_str()?;
        (other["namespace"] != *namespace).then_some(namespace)
    })
}

#[test]
fn an_operator_in_another_namespace_keeps_its_bindings() {
    use super::Owner;
    use crate::yaml::json;
    let binding = |namespace: &str, manager: &str| {
        json!({
            "kind": "ClusterRoleBinding",
            "metadata": {"managedFields": [{"manager": manager, "operation": "Apply", "fieldsV1": {}}]},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": namespace}],
        })
    };
    let owner = Owner::of("a.example.com");
    let check = |manager: &str, wanted: &str, expected: Option<&str>| {
        let live = binding("x", manager);
        assert_eq!(elsewhere(&live, &owner.judge(&live), &binding(wanted, "")), expected);
    };
    check(&owner.creator, "y", Some("x"));
    check(&owner.creator, "x", None);
    check("other", "y", None);
}
