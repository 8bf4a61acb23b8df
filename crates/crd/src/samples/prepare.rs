//! What an API server does with an object before it validates it: it fills in defaults, refuses or drops fields that
//! the schema does not have, and drops values that must not be null.

use super::{field::FieldPath, findings::Findings};
use crate::keyword::flag;
use go_data::yaml::Value;

/// Fields that every object has, whatever its schema.
pub const OBJECT: [&str; 3] = ["apiVersion", "kind", "metadata"];

pub fn add_defaults(value: &mut Value, schema: &Value) {
    let default = |value: &Value, schema: &Value| {
        let default = schema.get("default").filter(|it| !it.is_null());
        default.filter(|_| value.is_null() && !flag(schema, "nullable")).cloned()
    };
    match value {
        Value::Object(map) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (key, schema) in properties.into_iter().flatten() {
                let Some(default) = schema.get("default").filter(|it| !it.is_null()) else {
                    continue;
                };
                if map.get(key).is_none_or(|it| it.is_null() && !flag(schema, "nullable")) {
                    map.insert(key.clone(), default.clone());
                }
            }
            let others = schema.get("additionalProperties").filter(|it| it.is_object());
            for (key, value) in map {
                match (properties.and_then(|it| it.get(key)), others) {
                    (Some(schema), _) => add_defaults(value, schema),
                    (None, Some(schema)) => {
                        if let Some(default) = default(value, schema) {
                            *value = default;
                        }
                        add_defaults(value, schema);
                    }
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            for value in items {
                if let Some(default) = default(value, schema) {
                    *value = default;
                }
                add_defaults(value, schema);
            }
        }
        _ => {}
    }
}

/// Removes fields that the schema does not have. Each of them is a fault.
pub fn remove_unknown(
    value: &mut Value,
    schema: Option<&Value>,
    path: &FieldPath,
    findings: &mut Findings,
) {
    let keeps = schema.is_some_and(|it| flag(it, "x-kubernetes-preserve-unknown-fields"));
    let is_embedded =
        path.is_top() || schema.is_some_and(|it| flag(it, "x-kubernetes-embedded-resource"));
    match value {
        Value::Object(map) => {
            let properties = schema.and_then(|it| it.get("properties")).and_then(Value::as_object);
            let others = schema.and_then(|it| it.get("additionalProperties"));
            map.retain(|key, value| {
                if is_embedded && OBJECT.contains(&key.as_str()) {
                    return true;
                }
                let path = path.key(key);
                match (properties.and_then(|it| it.get(key)), others) {
                    (Some(schema), _) => remove_unknown(value, Some(schema), &path, findings),
                    (None, Some(Value::Bool(true))) => {}
                    (None, Some(schema @ Value::Object(_))) => {
                        remove_unknown(value, Some(schema), &path, findings);
                    }
                    (None, _) if keeps => {}
                    (None, _) => {
                        findings.fault(&path, "unknown field");
                        let names = properties.into_iter().flatten().map(|it| it.0.as_str());
                        if let Some(fault) = findings.faults.last_mut() {
                            fault.hint = nearest(key, names);
                        }
                        return false;
                    }
                }
                true
            });
        }
        Value::Array(items) => {
            let schema = schema.and_then(|it| it.get("items"));
            if keeps && schema.is_none() {
                return;
            }
            for (at, value) in items.iter_mut().enumerate() {
                remove_unknown(value, schema, &path.item(at), findings);
            }
        }
        _ => {}
    }
}

fn nearest<'a>(key: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    diagnostics::nearest(key, names).map(|it| format!("did you mean `{it}`?"))
}

pub fn remove_nulls(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(map) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let others = schema.get("additionalProperties").filter(|it| it.is_object());
            map.retain(|key, value| {
                let Some(schema) = properties.and_then(|it| it.get(key)).or(others) else {
                    return true;
                };
                remove_nulls(value, schema);
                !value.is_null() || flag(schema, "nullable")
            });
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            items.iter_mut().for_each(|it| remove_nulls(it, schema));
        }
        _ => {}
    }
}
