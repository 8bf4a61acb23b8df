//! Pruning: the removal of fields that a schema does not declare.

use super::{FieldPath, Step, flag};
use serde_json::Value;

/// Fields that every object has, whatever its schema.
pub const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// The path of a field that is not declared, and the schema of the object that has it.
pub type Report<'a> = &'a mut dyn FnMut(&FieldPath, Option<&Value>);

/// Removes the fields that a schema does not declare. Without a schema, none is declared. At the top of `path` is a
/// resource, which always has [`META_FIELDS`].
///
/// `additionalProperties: true` keeps the entries of a map, but declares nothing inside of them, so that nested objects
/// are emptied; `x-kubernetes-preserve-unknown-fields` on the map itself does not change that.
pub fn prune(value: &mut Value, schema: Option<&Value>, path: &FieldPath, report: Report<'_>) {
    let preserves = schema.is_some_and(|schema| flag(schema, "x-kubernetes-preserve-unknown-fields"));
    if preserves {
        return prune_declared(value, schema, path, report);
    }
    let is_resource = is_resource(schema, path);
    match value {
        Value::Object(map) => map.retain(|name, value| {
            let path = path.key(name);
            match declared(schema, name) {
                _ if is_resource && META_FIELDS.contains(&name.as_str()) => true,
                Some(field) => {
                    prune(value, field, &path, report);
                    true
                }
                None => {
                    report(&path, schema);
                    false
                }
            }
        }),
        Value::Array(items) => {
            let schema = schema.and_then(|schema| schema.get("items"));
            for (index, item) in items.iter_mut().enumerate() {
                prune(item, schema, &path.item(index), report);
            }
        }
        _ => {}
    }
}

/// Prunes only within the declared fields of a value that keeps its unknown ones.
fn prune_declared(value: &mut Value, schema: Option<&Value>, path: &FieldPath, report: Report<'_>) {
    let is_resource = is_resource(schema, path);
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if is_resource && META_FIELDS.contains(&name.as_str()) {
                    continue;
                }
                if let Some(schema) = declared(schema, name) {
                    prune(value, schema, &path.key(name), report);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.and_then(|schema| schema.get("items")) else { return };
            for (index, item) in items.iter_mut().enumerate() {
                prune_declared(item, Some(schema), &path.item(index), report);
            }
        }
        _ => {}
    }
}

fn is_resource(schema: Option<&Value>, path: &FieldPath) -> bool {
    path.is_top() || schema.is_some_and(|schema| flag(schema, "x-kubernetes-embedded-resource"))
}

/// The schema of a field, where the field is declared. `additionalProperties: true` declares fields without a schema.
#[allow(clippy::option_option, reason = "a declared field need not have a schema")]
fn declared<'a>(schema: Option<&'a Value>, name: &str) -> Option<Option<&'a Value>> {
    let schema = schema?;
    if let Some(field) = schema.get("properties").and_then(|fields| fields.get(name)) {
        return Some(Some(field));
    }
    match schema.get("additionalProperties") {
        Some(Value::Bool(true)) => Some(None),
        Some(values @ Value::Object(_)) => Some(Some(values)),
        _ => None,
    }
}

/// Returns the fields for which a server-side apply of a resource is refused. Only objects with declared fields are
/// asked, and not those within a value that keeps unknown fields: elsewhere, unknown fields are removed.
pub fn undeclared_in_apply(resource: &Value, schema: &Value) -> Vec<String> {
    let mut undeclared = Vec::new();
    prune(&mut resource.clone(), Some(schema), &FieldPath::default(), &mut |path, parent| {
        let fields = parent.and_then(|parent| parent.get("properties")).and_then(Value::as_object);
        if fields.is_some_and(|fields| !fields.is_empty()) && !is_within_preserving(schema, path) {
            undeclared.push(path.to_string());
        }
    });
    undeclared
}

/// Returns whether a value around a field keeps unknown fields.
fn is_within_preserving(schema: &Value, path: &FieldPath) -> bool {
    let mut schema = Some(schema);
    path.steps().iter().any(|step| {
        let preserves = schema.is_some_and(|schema| flag(schema, "x-kubernetes-preserve-unknown-fields"));
        schema = match step {
            Step::Key(name) => declared(schema, name).flatten(),
            Step::Item(_) => schema.and_then(|schema| schema.get("items")),
        };
        preserves
    })
}
