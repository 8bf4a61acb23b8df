//! Whether an operator is deployed to another namespace already.

use super::owned::{self, Standing};
use crate::yaml::Value;

/// The namespace that a binding of ours is for, where it is another one than is asked for: what is
/// outside of namespaces is there once, so a second operator would take it from the first.
pub fn elsewhere<'a>(live: &'a Value, object: &Value) -> Option<&'a str> {
    let is_binding =
        object["kind"] == "ClusterRoleBinding" && owned::standing(live) == Standing::Ours;
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
    use crate::yaml::json;
    let binding = |namespace: &str, manager: &str| {
        json!({
            "kind": "ClusterRoleBinding",
            "metadata": {"managedFields": [{"manager": manager, "operation": "Apply", "fieldsV1": {}}]},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": namespace}],
        })
    };
    let ours = owned::MANAGER;
    assert_eq!(elsewhere(&binding("x", ours), &binding("y", ours)), Some("x"));
    assert_eq!(elsewhere(&binding("x", ours), &binding("x", ours)), None);
    assert_eq!(elsewhere(&binding("x", "other"), &binding("y", ours)), None);
}
