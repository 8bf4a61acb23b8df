//! Fields that the stored version does not have: the API server drops them when an object is written.

use std::collections::BTreeSet;

use super::{Change, Rule};
use crate::compatibility::{Crd, Effect, normal::Keywords};
use go_data::yaml::Value;

/// A field that is dropped: its version, the stored version, and its path.
type Field = (String, String, String);

/// The fields that are dropped from now on. A conversion webhook decides for itself what it keeps.
pub fn pruned(old: &Crd, new: &Crd) -> Vec<(Field, Rule, Change)> {
    let known: BTreeSet<(String, String)> =
        dropped(old).into_iter().map(|(version, _, field)| (version, field)).collect();
    let mut res = dropped(new);
    res.retain(|(version, _, field)| !known.contains(&(version.clone(), field.clone())));
    let change = |it: Field| {
        let (version, stored, _) = &it;
        let had = |it: &String| old.version(it).is_some_and(|it| it.storage);
        // Only what objects were stored with can get lost.
        let is_lost = had(version) || old.stored.contains(version);
        let what = match had(stored) {
            true => format!("the stored version `{stored}` does not have the field"),
            false => format!("`{stored}` is stored now, and does not have the field"),
        };
        let remedy = format!(
            "add the field to `{stored}`, or convert with a webhook: the API server drops it when the object is next written"
        );
        let effect = if is_lost { Effect::Loses } else { Effect::Clients };
        (it, Rule::StorageVersionFields, Change::new(what, remedy).with(effect))
    };
    res.into_iter().map(change).collect()
}

/// The paths of the fields of a version that another one does not have.
pub fn lost_fields(crd: &Crd, from: &str, to: &str) -> Vec<String> {
    let schema = |name| crd.version(name)?.schema.as_ref();
    let (Some(has), Some(keeps)) = (schema(from), schema(to)) else { return Vec::new() };
    let mut res = Vec::new();
    compare("^", has, keeps, true, &mut res);
    res.iter().map(|it| it.trim_start_matches("^.").to_owned()).collect()
}

/// The paths of the fields of an object that the API server drops when it stores the object in a version.
pub fn pruned_fields(crd: &Crd, object: &Value, to: &str) -> BTreeSet<String> {
    let mut res = BTreeSet::new();
    if let Some(keeps) = crd.version(to).and_then(|it| it.schema.as_ref()) {
        prune("", object, keeps, true, &mut res);
    }
    res
}

fn prune(at: &str, value: &Value, keeps: &Keywords, is_resource: bool, res: &mut BTreeSet<String>) {
    for (name, field) in value.as_object().into_iter().flatten() {
        if is_resource && is_never_pruned(name) {
            continue;
        }
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let known = keeps.get("properties").and_then(|it| it.get(name));
        match known.or(keeps.get("additionalProperties")) {
            Some(Value::Object(keeps)) => prune(&path, field, keeps, is_embedded(keeps), res),
            Some(Value::Bool(true)) => {}
            _ if is_open(keeps) => {}
            _ => drop(res.insert(path)),
        }
    }
    for item in value.as_array().into_iter().flatten() {
        if let Some(Value::Object(keeps)) = keeps.get("items") {
            prune(&format!("{at}[]"), item, keeps, is_embedded(keeps), res);
        }
    }
}

fn is_never_pruned(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}

fn dropped(crd: &Crd) -> Vec<Field> {
    let Some(stored) = crd.versions.iter().find(|it| it.storage).filter(|_| !crd.converts()) else {
        return Vec::new();
    };
    let mut res = Vec::new();
    for version in crd.versions.iter().filter(|it| it.name != stored.name) {
        let (Some(has), Some(keeps)) = (&version.schema, &stored.schema) else { continue };
        let mut fields = Vec::new();
        compare("^", has, keeps, true, &mut fields);
        let field = |it| (version.name.clone(), stored.name.clone(), it);
        res.extend(fields.into_iter().map(field));
    }
    res
}

/// What the one schema keeps and the other one prunes, as `prune` of apiextensions-apiserver has it.
fn compare(at: &str, has: &Keywords, keeps: &Keywords, is_resource: bool, res: &mut Vec<String>) {
    let more = keeps.get("additionalProperties");
    let keeps_any = is_open(keeps) || more == Some(&Value::Bool(true));
    for (name, field) in properties(has) {
        let path = format!("{at}.{name}");
        if is_resource && is_never_pruned(name) {
            continue;
        }
        let other = keeps.get("properties").and_then(|it| it.get(name)).or(more);
        match (field, other) {
            (Value::Object(field), Some(Value::Object(other))) => {
                compare(&path, field, other, is_embedded(field), res);
            }
            _ if keeps_any => {}
            _ => res.push(path),
        }
    }
    match (has.get("additionalProperties"), more) {
        (Some(Value::Object(value)), Some(Value::Object(other))) => {
            compare(&format!("{at}.additionalProperties"), value, other, is_embedded(value), res);
        }
        (Some(Value::Object(_) | Value::Bool(true)), _) if !keeps_any => {
            res.push(format!("{at}.additionalProperties"));
        }
        _ if is_open(has) && !keeps_any && !matches!(more, Some(Value::Object(_))) => {
            res.push(at.to_owned());
        }
        _ => {}
    }
    if let (Some(Value::Object(items)), Some(Value::Object(others))) =
        (has.get("items"), keeps.get("items"))
    {
        compare(&format!("{at}.items"), items, others, is_embedded(items), res);
    }
}

fn properties(schema: &Keywords) -> impl Iterator<Item = (&String, &Value)> {
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
    use crate::compatibility::normal::normalize;
    use go_data::yaml::json;
    let check = |has: Value, keeps: Value, expected: &[&str]| {
        let mut res = Vec::new();
        compare("^", &normalize(&has).unwrap(), &normalize(&keeps).unwrap(), true, &mut res);
        assert_eq!(res, expected, "{has} and {keeps}");
    };
    let object = |it: Value| json!({ "type": "object", "properties": it });
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
    let list = |it: Value| object(json!({ "a": { "type": "array", "items": it } }));
    check(list(object(json!({ "b": text }))), list(object(json!({}))), &["^.a.items.b"]);
}

#[test]
fn what_an_object_loses_is_found() {
    use crate::compatibility::normal::normalize;
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
    prune("", &object, &normalize(&keeps).unwrap(), true, &mut res);
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
