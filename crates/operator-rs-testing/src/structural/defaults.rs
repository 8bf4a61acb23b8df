//! Nulls and defaults.

use super::flag;
use serde_json::Value;

/// Removes each `null` in a map that its schema does not allow and that has no default. It stays in a list.
pub fn remove_nulls(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(map) => map.retain(|name, value| {
            let Some(schema) = schema_of(schema, name) else { return true };
            remove_nulls(value, schema);
            !is_unwanted(value, schema) || default_of(schema).is_some()
        }),
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            items.iter_mut().for_each(|item| remove_nulls(item, schema));
        }
        _ => {}
    }
}

/// Fills in the defaults of fields that are absent, and of each `null` that its schema does not allow.
pub fn fill_defaults(value: &mut Value, schema: &Value) {
    match value {
        Value::Object(map) => {
            for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let is_missing = map.get(name).is_none_or(|value| is_unwanted(value, schema));
                if let Some(default) = default_of(schema).filter(|_| is_missing) {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in map {
                if let Some(schema) = schema_of(schema, name) {
                    fill_default(value, schema);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            items.iter_mut().for_each(|item| fill_default(item, schema));
        }
        _ => {}
    }
}

fn fill_default(value: &mut Value, schema: &Value) {
    if let Some(default) = default_of(schema).filter(|_| is_unwanted(value, schema)) {
        *value = default.clone();
    }
    fill_defaults(value, schema);
}

fn default_of(schema: &Value) -> Option<&Value> {
    schema.get("default").filter(|default| !default.is_null())
}

fn is_unwanted(value: &Value, schema: &Value) -> bool {
    value.is_null() && !flag(schema, "nullable")
}

/// The schema of a field, where it has one.
fn schema_of<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let declared = schema.get("properties").and_then(|fields| fields.get(name));
    declared.or_else(|| schema.get("additionalProperties").filter(|values| values.is_object()))
}
