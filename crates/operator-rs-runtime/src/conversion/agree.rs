//! Compares values: finds what the results of several conversions have in common, and what one conversion loses.

use super::schema::Node;
use serde_json::{Map, Value};

/// Returns the common part of two results, without the objects that have nothing in common.
pub fn common_part(a: Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let are_empty = a.is_empty() && b.is_empty();
            let common_field = |(name, a): (String, Value)| {
                let common = common_part(a, b.get(&name)?)?;
                Some((name, common))
            };
            let common: Map<_, _> = a.into_iter().filter_map(common_field).collect();
            (are_empty || !common.is_empty()).then_some(Value::Object(common))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => common_items(a, b),
        (a, b) => (a == *b).then_some(a),
    }
}

/// Returns the common part of two lists. Two objects without a common part become an empty object, so that the other
/// items keep their indexes.
fn common_items(a: Vec<Value>, b: &[Value]) -> Option<Value> {
    let are_empty = a.is_empty();
    let common = a.into_iter().zip(b).map(|(a, b)| (a.is_object() && b.is_object(), common_part(a, b)));
    let common: Vec<_> = common.collect();
    if !are_empty && common.iter().all(|(_, item)| item.is_none()) {
        return None;
    }
    let empty_object = || Value::Object(Map::new());
    let items = common.into_iter().map(|(are_objects, item)| item.or_else(|| are_objects.then(empty_object)));
    items.collect::<Option<_>>().map(Value::Array)
}

/// Removes each `null` that stands for an unset optional field. Nulls in free-form values stay.
pub fn drop_nulls(value: &mut Value, schema: &Node) {
    match value {
        Value::Object(object) => {
            let is_unset = |name: &String| schema.properties.contains_key(name) && !schema.required.contains(name);
            object.retain(|name, value| !(value.is_null() && is_unset(name)));
            for (name, value) in object {
                if let Some(field) = schema.field_schema(name) {
                    drop_nulls(value, field);
                }
            }
        }
        Value::Array(list) => {
            if let Some(items) = &schema.items {
                list.iter_mut().for_each(|item| drop_nulls(item, items));
            }
        }
        _ => {}
    }
}

/// Returns `raw` with the changes from `before` to `after`.
pub fn merge_changes(raw: &Value, before: &Value, after: Value) -> Value {
    match (raw, before, after) {
        (raw, before, after) if *before == after => raw.clone(),
        (Value::Object(raw), Value::Object(before), Value::Object(after)) => {
            let mut merged = raw.clone();
            merged.retain(|name, _| after.contains_key(name) || !before.contains_key(name));
            for (name, value) in after {
                match (raw.get(&name), before.get(&name)) {
                    (_, Some(old)) if *old == value => {}
                    (Some(raw), Some(old)) => _ = merged.insert(name, merge_changes(raw, old, value)),
                    _ => _ = merged.insert(name, value),
                }
            }
            Value::Object(merged)
        }
        (_, _, after) => after,
    }
}

/// Reduces two objects to the fields in which they differ. Lists are compared as a whole.
pub fn reduce_to_differences(a: &mut Value, b: &mut Value) {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return };
    a.retain(|name, x| {
        let Some(y) = b.get_mut(name) else { return true };
        if x == y {
            b.remove(name);
            return false;
        }
        reduce_to_differences(x, y);
        true
    });
}
