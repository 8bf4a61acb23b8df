//! Comparisons of values: what several conversions agree on, and what one conversion loses.

use super::schema::Node;
use serde_json::{Map, Value};

/// What two results agree on, without the objects that nothing is left of.
pub fn agree(a: Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let are_empty = a.is_empty() && b.is_empty();
            let both: Map<_, _> = a.into_iter().filter_map(|(k, v)| agree(v, b.get(&k)?).map(|it| (k, it))).collect();
            (are_empty || !both.is_empty()).then_some(Value::Object(both))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => agree_on_items(a, b),
        (a, b) => (a == *b).then_some(a),
    }
}

/// An item of which nothing is left stays as an empty object, so that the others keep their indexes.
fn agree_on_items(a: Vec<Value>, b: &[Value]) -> Option<Value> {
    let are_empty = a.is_empty();
    let both = a.into_iter().zip(b).map(|(a, b)| (a.is_object() && b.is_object(), agree(a, b)));
    let both: Vec<_> = both.collect();
    if !are_empty && both.iter().all(|(_, it)| it.is_none()) {
        return None;
    }
    let items = both.into_iter().map(|(are_objects, it)| it.or_else(|| are_objects.then(|| Value::Object(Map::new()))));
    items.collect::<Option<_>>().map(Value::Array)
}

/// Removes each `null` that stands for an optional field which is not set. Those in free-form values stay.
pub fn drop_nulls(value: &mut Value, schema: &Node) {
    match value {
        Value::Object(object) => {
            let is_unset = |name: &String| schema.properties.contains_key(name) && !schema.required.contains(name);
            object.retain(|name, value| !(value.is_null() && is_unset(name)));
            for (name, value) in object {
                if let Some(field) = schema.field(name) {
                    drop_nulls(value, field);
                }
            }
        }
        Value::Array(list) => {
            if let Some(items) = &schema.items {
                list.iter_mut().for_each(|it| drop_nulls(it, items));
            }
        }
        _ => {}
    }
}

/// `raw` with what changed from `before` to `after`.
pub fn merge(raw: &Value, before: &Value, after: Value) -> Value {
    match (raw, before, after) {
        (raw, before, after) if *before == after => raw.clone(),
        (Value::Object(raw), Value::Object(before), Value::Object(after)) => {
            let mut res = raw.clone();
            res.retain(|name, _| after.contains_key(name) || !before.contains_key(name));
            for (name, value) in after {
                match (raw.get(&name), before.get(&name)) {
                    (_, Some(old)) if *old == value => {}
                    (Some(raw), Some(old)) => _ = res.insert(name, merge(raw, old, value)),
                    _ => _ = res.insert(name, value),
                }
            }
            Value::Object(res)
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
