//! Represents lists whose items have keys as maps, so that two lists are compared item by item, and their orders
//! separately.

use super::schema::Node;
use serde_json::{Map, Value, json};

const ITEMS: &str = "items";
const ORDER: &str = "order";

/// Replaces each list with keys by a map of its items and the order of their keys. A list stays a list if one of its
/// items has no key, or two items have the same key.
pub fn to_maps(value: &mut Value, schema: &Node) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if let Some(field_schema) = schema.field_schema(name) {
                    to_maps(field, field_schema);
                }
            }
        }
        Value::Array(list) if !schema.keys.is_empty() => {
            let keys: Option<Vec<String>> = list.iter().map(|item| key_of(item, &schema.keys)).collect();
            let (Some(keys), Some(item_schema)) = (keys, &schema.items) else { return };
            let mut items = Map::new();
            for (key, item) in keys.iter().zip(&*list) {
                let mut item = item.clone();
                to_maps(&mut item, item_schema);
                items.insert(key.clone(), item);
            }
            if items.len() == keys.len() {
                *value = json!({ ITEMS: items, ORDER: keys });
            }
        }
        _ => {}
    }
}

/// Restores the lists from their maps. The items that `kept` has come first, in its order.
pub fn to_lists(value: &mut Value, schema: &Node, kept: &Value) {
    let Value::Object(fields) = value else { return };
    let Some(item_schema) = schema.items.as_ref().filter(|_| !schema.keys.is_empty()) else {
        for (name, field) in fields {
            if let Some(field_schema) = schema.field_schema(name) {
                to_lists(field, field_schema, &kept[name.as_str()]);
            }
        }
        return;
    };
    let Some(Value::Object(mut items)) = fields.remove(ITEMS) else { return };
    let orders = [&kept[ORDER], &fields[ORDER]].into_iter().filter_map(Value::as_array).flatten();
    let mut order: Vec<String> = orders.filter_map(Value::as_str).map(str::to_owned).collect();
    order.extend(items.keys().cloned());
    let mut list: Vec<Value> = Vec::with_capacity(items.len());
    for key in order {
        if let Some(mut item) = items.remove(&key) {
            to_lists(&mut item, item_schema, &kept[ITEMS][key]);
            list.push(item);
        }
    }
    *value = Value::Array(list);
}

/// Removes each order that `hub` also has: the order of the hub is restored, whatever the other order is.
pub fn remove_orders(value: &mut Value, hub: &Value, schema: &Node) {
    let Value::Object(fields) = value else { return };
    match schema.items.as_ref().filter(|_| !schema.keys.is_empty()) {
        Some(item_schema) => {
            if hub[ORDER].is_array() {
                fields.remove(ORDER);
            }
            for (key, item) in fields.get_mut(ITEMS).and_then(Value::as_object_mut).into_iter().flatten() {
                remove_orders(item, &hub[ITEMS][key.as_str()], item_schema);
            }
        }
        None => {
            for (name, field) in fields {
                if let Some(field_schema) = schema.field_schema(name) {
                    remove_orders(field, &hub[name.as_str()], field_schema);
                }
            }
        }
    }
}

/// Returns the values of the keys as a string, if the item has all of them.
fn key_of(item: &Value, keys: &[String]) -> Option<String> {
    let values: Vec<&Value> = keys.iter().map(|key| item.get(key)).collect::<Option<_>>()?;
    match values[..] {
        [Value::String(text)] => Some(text.clone()),
        _ => Some(json!(values).to_string()),
    }
}
