//! Checks how lists and maps are merged, by `x-kubernetes-list-type`, `x-kubernetes-list-map-keys` and
//! `x-kubernetes-map-type`.

use super::structural::property_schema;
use crate::keyword::{flag, text};
use go_data::yaml::Value;

/// Reports why lists or maps cannot be merged as the schema says.
pub fn check_merge_strategy(schema: &Value, report: &mut impl FnMut(&str, &'static str)) {
    const KEYS: &str =
        "name fields of the items that are required or have a default, not an `Option`";
    let (list_type, map_type) =
        (text(schema, "x-kubernetes-list-type"), text(schema, "x-kubernetes-map-type"));
    let kind = text(schema, "type");
    if !matches!(map_type, "" | "atomic" | "granular")
        || !matches!(list_type, "" | "atomic" | "set" | "map")
    {
        report("has an unknown merge strategy", "use `atomic`, `granular`, `set` or `map`");
    }
    if !map_type.is_empty() && kind != "object" {
        report("has a map type, but is not an object", "remove the map type");
    }
    if !list_type.is_empty() && kind != "array" {
        report("has a list type, but is not an array", "remove the list type");
    }
    let nothing = Value::Null;
    let items = schema.get("items").filter(|it| it.is_object()).unwrap_or(&nothing);
    if matches!(list_type, "set" | "map") && flag(items, "nullable") {
        report("is a list whose items can be null, which cannot be merged", KEYS);
    }
    let is_atomic = match text(items, "type") {
        "array" => matches!(text(items, "x-kubernetes-list-type"), "" | "atomic"),
        "object" => text(items, "x-kubernetes-map-type") == "atomic",
        _ => true,
    };
    if list_type == "set" && !is_atomic {
        report(
            "is a set whose items are neither scalars nor atomic",
            "merge it as a map with keys, or as a whole",
        );
    }
    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
    let keys: Vec<&str> = keys.into_iter().flatten().filter_map(Value::as_str).collect();
    if list_type != "map" {
        if !keys.is_empty() {
            report("has keys, and is not merged by keys", "remove the keys");
        }
        return;
    }
    if keys.iter().enumerate().any(|(at, it)| keys[..at].contains(it)) {
        report("is merged by the same key twice", KEYS);
    }
    if keys.is_empty() || text(items, "type") != "object" {
        return report("is merged by keys, and has none", KEYS);
    }
    let required = items.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    for key in keys {
        let fault = match property_schema(items, key) {
            None => "which its items do not have",
            Some(it) if matches!(text(it, "type"), "array" | "object") => "which is not a scalar",
            Some(it) if flag(it, "nullable") => "which can be null",
            Some(it) if !required.contains(&key) && it.get("default").is_none() => {
                "which may be left out"
            }
            Some(_) => continue,
        };
        report(&format!("is merged by the key `{key}`, {fault}"), KEYS);
    }
}
