//! Reports fields that the stored version does not have: the API server drops them when an object is written.

use std::collections::BTreeSet;

use super::{Change, Rule};
use crate::compatibility::{Crd, Effect, normal::Keywords};
use go_data::yaml::Value;

/// A field that is dropped: its version, the stored version, and its path.
type DroppedField = (String, String, String);

/// Returns the fields that are dropped from now on. A conversion webhook decides for itself what it keeps.
pub fn check_pruned_fields(old: &Crd, new: &Crd) -> Vec<(DroppedField, Rule, Change)> {
    let known: BTreeSet<(String, String)> =
        dropped_fields(old).into_iter().map(|(version, _, field)| (version, field)).collect();
    let mut dropped = dropped_fields(new);
    dropped.retain(|(version, _, field)| !known.contains(&(version.clone(), field.clone())));
    let change = |field: DroppedField| {
        let (version, stored, _) = &field;
        let had = |name: &String| old.version(name).is_some_and(|version| version.storage);
        // Only what objects were stored with can get lost.
        let is_lost = had(version) || old.stored.contains(version);
        let what = if had(stored) {
            format!("the stored version `{stored}` does not have the field")
        } else {
            format!("`{stored}` is stored now, and does not have the field")
        };
        let remedy = format!(
            "add the field to `{stored}`, or convert with a webhook: the API server drops it when the object is next written"
        );
        let effect = if is_lost { Effect::Loses } else { Effect::Clients };
        (field, Rule::StorageVersionFields, Change::new(what, remedy).with_effect(effect))
    };
    dropped.into_iter().map(change).collect()
}

/// Returns the paths of the fields of a version that another one does not have.
pub fn lost_fields(crd: &Crd, from: &str, to: &str) -> Vec<String> {
    let schema = |name| crd.version(name)?.schema.as_ref();
    let (Some(has), Some(keeps)) = (schema(from), schema(to)) else { return Vec::new() };
    let mut paths = Vec::new();
    find_lost("^", has, keeps, true, &mut paths);
    paths.iter().map(|path| path.trim_start_matches("^.").to_owned()).collect()
}

/// Returns the paths of the fields of an object that the API server drops when it stores the object in a version.
pub fn pruned_fields(crd: &Crd, object: &Value, to: &str) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    if let Some(keeps) = crd.version(to).and_then(|version| version.schema.as_ref()) {
        find_pruned("", object, keeps, true, &mut paths);
    }
    paths
}

fn find_pruned(
    at: &str,
    value: &Value,
    keeps: &Keywords,
    is_resource: bool,
    paths: &mut BTreeSet<String>,
) {
    for (name, field) in value.as_object().into_iter().flatten() {
        if is_resource && is_never_pruned(name) {
            continue;
        }
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let known = keeps.get("properties").and_then(|properties| properties.get(name));
        match known.or(keeps.get("additionalProperties")) {
            Some(Value::Object(keeps)) => {
                find_pruned(&path, field, keeps, is_embedded(keeps), paths)
            }
            Some(Value::Bool(true)) => {}
            _ if is_open(keeps) => {}
            _ => drop(paths.insert(path)),
        }
    }
    for item in value.as_array().into_iter().flatten() {
        if let Some(Value::Object(keeps)) = keeps.get("items") {
            find_pruned(&format!("{at}[]"), item, keeps, is_embedded(keeps), paths);
        }
    }
}

fn is_never_pruned(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

fn dropped_fields(crd: &Crd) -> Vec<DroppedField> {
    let Some(stored) =
        crd.versions.iter().find(|version| version.storage).filter(|_| !crd.converts())
    else {
        return Vec::new();
    };
    let mut dropped = Vec::new();
    for version in crd.versions.iter().filter(|version| version.name != stored.name) {
        let (Some(has), Some(keeps)) = (&version.schema, &stored.schema) else { continue };
        let mut fields = Vec::new();
        find_lost("^", has, keeps, true, &mut fields);
        let field = |path| (version.name.clone(), stored.name.clone(), path);
        dropped.extend(fields.into_iter().map(field));
    }
    dropped
}

/// Finds the fields that one schema keeps and the other one prunes, as `prune` of apiextensions-apiserver does.
fn find_lost(
    at: &str,
    has: &Keywords,
    keeps: &Keywords,
    is_resource: bool,
    paths: &mut Vec<String>,
) {
    let more = keeps.get("additionalProperties");
    let keeps_any = is_open(keeps) || more == Some(&Value::Bool(true));
    for (name, field) in properties_of(has) {
        let path = format!("{at}.{name}");
        if is_resource && is_never_pruned(name) {
            continue;
        }
        let other = keeps.get("properties").and_then(|properties| properties.get(name)).or(more);
        match (field, other) {
            (Value::Object(field), Some(Value::Object(other))) => {
                find_lost(&path, field, other, is_embedded(field), paths);
            }
            _ if keeps_any => {}
            _ => paths.push(path),
        }
    }
    match (has.get("additionalProperties"), more) {
        (Some(Value::Object(value)), Some(Value::Object(other))) => {
            find_lost(
                &format!("{at}.additionalProperties"),
                value,
                other,
                is_embedded(value),
                paths,
            );
        }
        (Some(Value::Object(_) | Value::Bool(true)), _) if !keeps_any => {
            paths.push(format!("{at}.additionalProperties"));
        }
        _ if is_open(has) && !keeps_any && !matches!(more, Some(Value::Object(_))) => {
            paths.push(at.to_owned());
        }
        _ => {}
    }
    if let (Some(Value::Object(items)), Some(Value::Object(others))) =
        (has.get("items"), keeps.get("items"))
    {
        find_lost(&format!("{at}.items"), items, others, is_embedded(items), paths);
    }
}

fn properties_of(schema: &Keywords) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn is_open(schema: &Keywords) -> bool {
    schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
}

fn is_embedded(schema: &Keywords) -> bool {
    schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true))
}

#[test]
fn what_the_api_server_prunes_is_found() {
    use crate::compatibility::normal::normalize_schema;
    use go_data::yaml::json;
    let check = |has: Value, keeps: Value, expected: &[&str]| {
        let mut res = Vec::new();
        find_lost(
            "^",
            &normalize_schema(&has).unwrap(),
            &normalize_schema(&keeps).unwrap(),
            true,
            &mut res,
        );
        assert_eq!(res, expected, "{has} and {keeps}");
    };
    let object = |value: Value| json!({ "type": "object", "properties": value });
    let text = json!({ "type": "string" });
    let map = json!({ "type": "object", "additionalProperties": text });
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    check(object(json!({ "a": text, "b": text })), object(json!({ "a": text })), &["^.b"]);
    check(object(json!({ "metadata": text })), object(json!({})), &[]);
    check(
        object(json!({ "a": object(json!({ "b": text })) })),
        object(json!({ "a": object(json!({ "c": text })) })),
        &["^.a.b"],
    );
    check(
        object(json!({ "a": map })),
        object(json!({ "a": object(json!({})) })),
        &["^.a.additionalProperties"],
    );
    check(object(json!({ "a": object(json!({ "b": text })) })), object(json!({ "a": map })), &[]);
    check(object(json!({ "a": object(json!({ "b": text })) })), object(json!({ "a": any })), &[]);
    check(object(json!({ "a": any })), object(json!({ "a": object(json!({})) })), &["^.a"]);
    let list = |value: Value| object(json!({ "a": { "type": "array", "items": value } }));
    check(list(object(json!({ "b": text }))), list(object(json!({}))), &["^.a.items.b"]);
}

#[test]
fn what_an_object_loses_is_found() {
    use crate::compatibility::normal::normalize_schema;
    use go_data::yaml::json;
    let text = json!({ "type": "string" });
    let keeps = json!({ "type": "object", "properties": {
        "spec": { "type": "object", "properties": {
            "name": text,
            "list": { "type": "array", "items": { "type": "object", "properties": { "a": text } } },
            "map": { "type": "object", "additionalProperties": { "type": "object", "properties": { "a": text } } },
            "open": { "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                "closed": { "type": "object" },
            } },
            "pod": { "type": "object", "x-kubernetes-embedded-resource": true },
        } },
    } });
    let object = json!({ "apiVersion": "v1", "kind": "A", "metadata": { "a": "b" }, "other": 1, "spec": {
        "name": "a",
        "list": [{ "a": "a" }, { "a": "a", "b": 1 }, { "b": 2 }],
        "map": { "x": { "a": "a" }, "y": { "b": 1 } },
        "open": { "any": 1, "closed": { "c": 1 } },
        "pod": { "metadata": {}, "spec": {} },
        "gone": { "a": 1 },
    } });
    let mut res = BTreeSet::new();
    find_pruned("", &object, &normalize_schema(&keeps).unwrap(), true, &mut res);
    let expected = [
        "other",
        "spec.gone",
        "spec.list[].b",
        "spec.map.y.b",
        "spec.open.closed.c",
        "spec.pod.spec",
    ];
    assert_eq!(res.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
