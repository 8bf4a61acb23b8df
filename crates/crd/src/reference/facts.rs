//! What a schema demands of a value, in words. What has none is left, and shown as YAML.

use go_data::yaml::{Map, Value};
use serde_json::json;

use super::{
    field::inside,
    markdown::{code, plain},
};
use crate::keyword::{flag, text};

/// Keywords that are shown elsewhere: in the type, in the description, as fields, as rules.
const ELSEWHERE: [&str; 5] =
    ["type", "format", "description", "properties", "x-kubernetes-validations"];

/// Bounds, in the order in which they are shown, and their words.
const BOUNDS: [(&str, &str); 9] = [
    ("multipleOf", "multiple of"),
    ("minLength", "minimum length"),
    ("maxLength", "maximum length"),
    ("minItems", "minimum items"),
    ("maxItems", "maximum items"),
    ("minProperties", "minimum properties"),
    ("maxProperties", "maximum properties"),
    ("pattern", "pattern"),
    ("x-kubernetes-list-type", "list type"),
];

/// The type of a value, e.g. `integer (int32)`; `name` is that of its Rust type.
pub fn kind(schema: &Value, name: Option<&str>) -> String {
    let kind = match text(schema, "type") {
        _ if flag(schema, "x-kubernetes-int-or-string") => "integer or string".to_owned(),
        "" => "any value".to_owned(),
        "object" if matches!(inside(schema), Some(("value", ..))) => "map".to_owned(),
        "array" => "list".to_owned(),
        "object" if flag(schema, "x-kubernetes-embedded-resource") => {
            "Kubernetes object".to_owned()
        }
        other => plain(other),
    };
    let kind = match text(schema, "format") {
        "" => kind,
        format => format!("{kind}, {}", plain(format)),
    };
    match name {
        Some(name) => format!("{} ({kind})", code(name)),
        None => kind,
    }
}

/// The demands, and the keywords that have no words.
pub fn facts(schema: &Value) -> (Vec<String>, Map<String, Value>) {
    let mut rest = schema.as_object().cloned().unwrap_or_default();
    ELSEWHERE.iter().for_each(|it| drop(rest.remove(*it)));
    if inside(schema).is_some() {
        let what = if schema["items"].is_object() { "items" } else { "additionalProperties" };
        rest.remove(what);
    }
    let mut res = Vec::new();
    if rest.remove("nullable") == Some(true.into()) {
        res.push("nullable".to_owned());
    }
    if let Some(default) = rest.remove("default") {
        res.push(format!("default {}", code(&default.to_string())));
    }
    if let Some(Value::Array(all)) = rest.remove("enum") {
        let all: Vec<String> = all.iter().map(|it| code(&it.to_string())).collect();
        res.extend((!all.is_empty()).then(|| format!("one of {}", all.join(", "))));
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let excludes = rest.remove(exclusive) == Some(true.into());
        if let Some(value) = rest.remove(bound) {
            let word = if excludes { "exclusive " } else { "" };
            res.push(format!("{word}{bound} {}", code(&number(&value))));
        }
    }
    for (keyword, words) in BOUNDS {
        match rest.remove(keyword) {
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::String(text)) => res.push(format!("{words} {}", code(&text))),
            Some(value) => res.push(format!("{words} {}", code(&number(&value)))),
            None => {}
        }
    }
    if let Some(Value::Array(keys)) = rest.remove("x-kubernetes-list-map-keys") {
        let keys: Vec<String> = keys.iter().filter_map(Value::as_str).map(code).collect();
        res.extend((!keys.is_empty()).then(|| format!("list map keys {}", keys.join(", "))));
    }
    if let Some(kind) = rest.remove("x-kubernetes-map-type") {
        res.push(format!("map type {}", code(kind.as_str().unwrap_or_default())));
    }
    if rest.remove("uniqueItems") == Some(true.into()) {
        res.push("unique items".to_owned());
    }
    if let Some(Value::Array(names)) = rest.remove("required") {
        // Fields that are described say so themselves.
        let other =
            |it: &&Value| it.as_str().is_none_or(|it| schema["properties"].get(it).is_none());
        let names: Vec<String> =
            names.iter().filter(other).filter_map(Value::as_str).map(code).collect();
        res.extend((!names.is_empty()).then(|| format!("required fields {}", names.join(", "))));
    }
    let keeps = flag(schema, "x-kubernetes-preserve-unknown-fields");
    rest.remove("x-kubernetes-preserve-unknown-fields");
    if keeps && !text(schema, "type").is_empty()
        || schema["additionalProperties"] == true && text(schema, "type") == "object"
    {
        res.push("unknown fields are kept".to_owned());
    }
    if rest.get("additionalProperties").is_some_and(Value::is_boolean) {
        rest.remove("additionalProperties");
    }
    rest.remove("x-kubernetes-embedded-resource");
    if rest.remove("x-kubernetes-int-or-string") == Some(true.into())
        && rest.get("anyOf") == Some(&json!([{ "type": "integer" }, { "type": "string" }]))
    {
        rest.remove("anyOf");
    }
    rest.retain(|_, it| !(it == "" || it.as_array().is_some_and(Vec::is_empty)));
    (res, rest)
}

/// A number without the fraction that API servers add: `1` of `1.0`.
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(it) if value.is_f64() && it.fract() == 0.0 && it.abs() < 1e15 => format!("{it:.0}"),
        _ => value.to_string(),
    }
}
