//! Reports fields that are declared where a schema left them open: stored values may not fit, and fields inside of them
//! that are not declared are pruned.

use super::Change;
use crate::compatibility::normal::Schema;
use go_data::yaml::Value;

const OPEN: &str = "x-kubernetes-preserve-unknown-fields";

/// Returns the paths of fields that the new schema declares and that the old one allowed to have any value.
pub fn check_declared_fields(old: &Schema, new: &Schema) -> Vec<(String, Change)> {
    let mut paths = Vec::new();
    if let (Some(old), Some(new)) = (old, new) {
        let mut old = old.clone();
        // The metadata of a resource is there, and unconstrained, also where the schema does not mention it.
        let fields = old.entry("properties").or_insert_with(|| Value::Object(Default::default()));
        if let Some(fields) = fields.as_object_mut() {
            fields.entry("metadata").or_insert(Value::Null);
        }
        find_declared("^", &Value::Object(old), &Value::Object(new.clone()), &mut paths);
    }
    let change = |path: String| {
        let what = "the field is declared now; before, it could have any value";
        let remedy = "leave it undeclared, or add a version: stored values may not fit, and what the field does not declare is dropped";
        (path, Change::new(what, remedy))
    };
    paths.into_iter().map(change).collect()
}

fn find_declared(at: &str, old: &Value, new: &Value, paths: &mut Vec<String>) {
    // The schema of a resource's metadata is Kubernetes' own, and can have more constraints.
    let is_open = old[OPEN] == true || at == "^.metadata";
    for (name, field) in new["properties"].as_object().into_iter().flatten() {
        let path = format!("{at}.{name}");
        match old["properties"].get(name) {
            Some(old) => find_declared(&path, old, field, paths),
            None if is_open && !allows_all(field) => paths.push(path),
            None => {}
        }
    }
    for key in ["items", "additionalProperties"] {
        if old[key].is_object() {
            find_declared(&format!("{at}.{key}"), &old[key], &new[key], paths);
        }
    }
}

/// Returns true if a schema allows every value and keeps all of it.
fn allows_all(schema: &Value) -> bool {
    let says_nothing = |text: &str| matches!(text, OPEN | "description" | "title");
    schema[OPEN] == true
        && schema.as_object().is_some_and(|map| map.keys().all(|key| says_nothing(key)))
}

#[test]
fn fields_that_are_no_longer_open_are_found() {
    use crate::compatibility::normal::normalize_schema;
    use go_data::yaml::json;
    let check = |old: Value, new: Value, expected: &[&str]| {
        let schema = |value: &Value| Some(normalize_schema(value).expect("it is a schema"));
        let found = check_declared_fields(&schema(&old), &schema(&new));
        let paths: Vec<&str> = found.iter().map(|found| found.0.as_str()).collect();
        assert_eq!(paths, expected, "{old} and {new}");
    };
    let text = json!({ "type": "string" });
    let object = |value: Value| json!({ "type": "object", "properties": value });
    let open = |value: Value| json!({ "type": "object", OPEN: true, "properties": value });
    let any = json!({ OPEN: true, "description": "any" });
    let spec = |value: Value| object(json!({ "spec": value }));
    check(spec(open(json!({}))), spec(open(json!({ "a": text }))), &["^.spec.a"]);
    check(spec(open(json!({ "a": text }))), spec(open(json!({ "a": text }))), &[]);
    check(spec(open(json!({}))), spec(open(json!({ "a": any }))), &[]);
    check(spec(object(json!({}))), spec(object(json!({ "a": text }))), &[]);
    let list = |value: Value| spec(json!({ "type": "array", "items": value }));
    check(list(open(json!({}))), list(open(json!({ "a": text }))), &["^.spec.items.a"]);
    let name = object(json!({ "name": { "type": "string", "pattern": "^a" } }));
    let metadata = |value: Value| object(json!({ "metadata": value }));
    check(metadata(json!({ "type": "object" })), metadata(name.clone()), &["^.metadata.name"]);
    check(object(json!({})), metadata(name), &["^.metadata.name"]);
}
