//! Merges an applied object into the stored one, as server-side apply does.

use super::schema::{Schema, Shape};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// `live` with everything that `config` has.
pub fn merge_applied(live: &Value, config: &Value, schema: Schema) -> Value {
    match (schema.shape(live), schema.shape(config)) {
        (Shape::Struct, Shape::Struct) => {
            let none = Map::new();
            let mut out = live.as_object().unwrap_or(&none).clone();
            for (name, value) in config.as_object().unwrap_or(&none) {
                let merged = match out.get(name) {
                    Some(live) => merge_applied(live, value, schema.field(name)),
                    None => value.clone(),
                };
                out.insert(name.clone(), merged);
            }
            Value::Object(out)
        }
        (shape @ (Shape::Set | Shape::Keyed(_)), Shape::Set | Shape::Keyed(_)) => {
            let none = Vec::new();
            let list = |it: &Value| -> Vec<(String, Value)> {
                it.as_array().unwrap_or(&none).iter().map(|value| (shape.path_element(value), value.clone())).collect()
            };
            Value::Array(interleave_items(&list(live), &list(config), schema.item()))
        }
        _ => config.clone(),
    }
}

/// The items in the order of `config`; those that only `live` has stay where they are between the others.
fn interleave_items(live: &[(String, Value)], config: &[(String, Value)], schema: Schema) -> Vec<Value> {
    let in_live: BTreeMap<&String, &Value> = live.iter().map(|(key, value)| (key, value)).collect();
    let in_config: BTreeMap<&String, &Value> = config.iter().map(|(key, value)| (key, value)).collect();
    let mut shared = config.iter().map(|(key, _)| key).filter(|key| in_live.contains_key(key)).peekable();
    let (mut l, mut c, mut out) = (0, 0, Vec::new());
    while l < live.len() || c < config.len() {
        if let (Some((ours, mine)), Some((theirs, value))) = (live.get(l), config.get(c)) {
            if ours == theirs {
                out.push(merge_applied(mine, value, schema));
                (l, c) = (l + 1, c + 1);
                shared.next();
                continue;
            }
            if in_config.contains_key(ours) && shared.peek() != Some(&ours) {
                l += 1; // its place is where `config` has it
                continue;
            }
        }
        match (live.get(l), config.get(c)) {
            (Some((key, value)), _) if !in_config.contains_key(key) => {
                out.push(value.clone());
                l += 1;
            }
            (_, Some((key, value))) => {
                match in_live.get(key) {
                    Some(live) => {
                        out.push(merge_applied(live, value, schema));
                        shared.next();
                    }
                    None => out.push(value.clone()),
                }
                c += 1;
            }
            _ => l += 1,
        }
    }
    out
}
