//! Pruning and defaults of custom resources by the schema in their CRD.

use serde_json::Value;

/// Removes the fields that a schema does not declare. Their paths are added to `unknown`.
pub fn prune(value: &mut Value, schema: &Value, unknown: &mut Vec<String>) {
    prune_at(value, schema, "", true, unknown);
}

fn prune_at(value: &mut Value, schema: &Value, path: &str, is_root: bool, unknown: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            let is_root = is_root || schema["x-kubernetes-embedded-resource"] == true;
            object.retain(|name, value| {
                let at = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                if is_root && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
                    return true;
                }
                if let Some(field) = field(schema, name) {
                    prune_at(value, field, &at, false, unknown);
                } else if schema["x-kubernetes-preserve-unknown-fields"] != true {
                    unknown.push(at);
                    return false;
                }
                true
            });
        }
        Value::Array(list) => {
            for (i, item) in list.iter_mut().enumerate() {
                prune_at(item, &schema["items"], &format!("{path}[{i}]"), false, unknown);
            }
        }
        _ => {}
    }
}

/// Fills in defaults, and removes each `null` that its schema does not allow.
pub fn default(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(object) => {
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                let default = field.get("default").filter(|_| !keeps(object.get(name), field));
                if let Some(default) = default {
                    object.insert(name.clone(), default.clone());
                }
            }
            object.retain(|name, value| field(schema, name).is_none_or(|it| keeps(Some(value), it)));
            for (name, value) in object {
                if let Some(field) = field(schema, name) {
                    default(value, field);
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|it| default(it, &schema["items"])),
        _ => {}
    }
}

/// The schema of a field: one that accepts all where the object has no schema for it, but accepts it.
fn field<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    const ANY: &Value = &Value::Null;
    schema["properties"].get(name).or_else(|| match &schema["additionalProperties"] {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(ANY),
        values => Some(values),
    })
}

fn keeps(value: Option<&Value>, schema: &Value) -> bool {
    value.is_some_and(|it| !it.is_null() || schema.is_null() || schema["nullable"] == true)
}
