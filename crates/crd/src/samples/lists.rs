//! Checks lists of the types `set` and `map`, whose items or keys must differ.

use std::collections::BTreeMap;

use crate::{
    keyword::text,
    structural::{FieldPath, Findings},
};
use go_data::yaml::{Map, Value};

pub fn check_lists(schema: &Value, value: &Value, path: &FieldPath, findings: &mut Findings) {
    match value {
        Value::Array(items) => {
            match text(schema, "x-kubernetes-list-type") {
                "set" => report_duplicates(items, path, findings),
                "map" => check_map(schema, items, path, findings),
                _ => {}
            }
            let Some(schema) = schema.get("items") else { return };
            for (at, item) in items.iter().enumerate() {
                check_lists(schema, item, &path.item(at), findings);
            }
        }
        Value::Object(map) => {
            let properties = schema.get("properties");
            let others = schema.get("additionalProperties").filter(|values| values.is_object());
            for (key, value) in map {
                if let Some(schema) =
                    properties.and_then(|properties| properties.get(key)).or(others)
                {
                    check_lists(schema, value, &path.key(key), findings);
                }
            }
        }
        _ => {}
    }
}

fn check_map(schema: &Value, items: &[Value], path: &FieldPath, findings: &mut Findings) {
    if let Some(at) = items.iter().position(|item| !item.is_null() && !item.is_object()) {
        findings.fault(&path.item(at), "must be an object, because the list is merged by keys");
        return;
    }
    let names = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    let key = |item: &Value| {
        let parts =
            names.iter().filter_map(|name| Some(((*name).to_owned(), item.get(*name)?.clone())));
        Value::Object(parts.collect::<Map<_, _>>())
    };
    report_duplicates(&items.iter().map(key).collect::<Vec<_>>(), path, findings);
}

/// Reports a fault at the first repetition of each item.
fn report_duplicates(items: &[Value], path: &FieldPath, findings: &mut Findings) {
    let mut counts = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let count = counts.entry(item.to_string()).or_insert(0_usize);
        *count += 1;
        if *count == 2 {
            findings.fault(&path.item(at), format!("occurs twice in this list: {item}"));
        }
    }
}
