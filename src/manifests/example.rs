//! The smallest object that a schema accepts, according to its types, bounds and enums.

use go_data::yaml::{Map, Value, json};

/// Returns the `spec` of an object, if the schema has one.
pub fn example(schema: &Value) -> Value {
    let mut map = Map::new();
    if let Some(spec) = schema.pointer("/properties/spec") {
        map.insert("spec".to_owned(), example_value(spec));
    }
    Value::Object(map)
}

fn example_value(schema: &Value) -> Value {
    if let Some(default) = schema.get("default") {
        return default.clone();
    }
    if let Some(first) = schema.get("enum").and_then(|value| value.get(0)) {
        return first.clone();
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => example_object(schema),
        Some("array") => {
            let length = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(8);
            let item = schema.get("items").map_or(Value::Null, example_value);
            Value::Array((0..length).map(|_| item.clone()).collect())
        }
        Some("boolean") => json!(false),
        Some("string") => json!(example_string(schema)),
        Some("integer" | "number") => {
            let exclusive = schema.get("exclusiveMinimum").and_then(Value::as_bool) == Some(true);
            let least = number("minimum")
                .map_or(1.0, |number| if exclusive { number + 1.0 } else { number });
            let least = least.max(0.0).min(number("maximum").unwrap_or(f64::MAX));
            if least.fract() == 0.0 && least.abs() < 1e15 {
                #[expect(clippy::cast_possible_truncation, reason = "it is small and whole")]
                let least = least as i64;
                json!(least)
            } else {
                json!(least)
            }
        }
        _ if schema.get("x-kubernetes-int-or-string").is_some() => json!(1),
        _ => json!({}),
    }
}

fn example_object(schema: &Value) -> Value {
    // The first variant of a Rust enum.
    let variant =
        ["oneOf", "anyOf"].iter().find_map(|name| schema.get(name)?.get(0)?.get("required"));
    let required = [schema.get("required"), variant].into_iter().flatten();
    let names = required.filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let mut map = Map::new();
    for name in names {
        if let Some(field) = schema.get("properties").and_then(|value| value.get(name)) {
            map.insert(name.to_owned(), example_value(field));
        }
    }
    Value::Object(map)
}

fn example_string(schema: &Value) -> String {
    match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => return "2026-01-01T00:00:00Z".to_owned(),
        Some("date") => return "2026-01-01".to_owned(),
        Some("duration") => return "1m".to_owned(),
        _ => {}
    }
    let length = |key: &str| {
        let length = schema.get(key).and_then(Value::as_u64);
        length.and_then(|length| usize::try_from(length).ok())
    };
    let least = length("minLength").unwrap_or(0).min(1024);
    let most = length("maxLength").unwrap_or(usize::MAX);
    let word = "example";
    let long = word.repeat(1 + least / word.len());
    long.chars().take(word.len().max(least).min(most)).collect()
}

#[test]
fn an_example_has_what_is_required() {
    let check = |spec: Value, expected: Value| {
        let schema = json!({ "properties": { "spec": spec, "status": { "type": "object" } } });
        assert_eq!(example(&schema), json!({ "spec": expected }));
    };
    check(json!({ "type": "object" }), json!({}));
    check(
        json!({
            "type": "object",
            "required": ["size", "host", "mode", "tls", "ports", "at", "ratio", "code"],
            "properties": {
                "size": { "type": "integer", "minimum": 3.0 },
                "ratio": { "type": "number", "minimum": 0.5 },
                "host": { "type": "string" },
                "code": { "type": "string", "minLength": 9, "maxLength": 10 },
                "at": { "type": "string", "format": "date-time" },
                "mode": { "type": "string", "enum": ["Fast", "Slow"] },
                "tls": { "type": "object", "required": ["on"], "properties": { "on": { "type": "boolean" } } },
                "ports": { "type": "array", "minItems": 1, "items": { "x-kubernetes-int-or-string": true } },
                "other": { "type": "string" },
            },
        }),
        json!({
            "size": 3, "ratio": 0.5, "host": "example", "code": "exampleex", "at": "2026-01-01T00:00:00Z",
            "mode": "Fast", "tls": { "on": false }, "ports": [1],
        }),
    );
    check(
        json!({
            "type": "object",
            "oneOf": [{ "required": ["a"] }, { "required": ["b"] }],
            "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
        }),
        json!({ "a": "example" }),
    );
}
