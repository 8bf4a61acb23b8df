//! Describes in words what a schema demands of a value. Keywords without words are returned, to be shown as YAML.

use go_data::yaml::{Map, Value};
use serde_json::json;

use super::{
    field::item_schema,
    markdown::{code_span, escape_text},
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

/// Returns the type of a value, e.g. `integer (int32)`; `name` is that of its Rust type.
pub fn describe_type(schema: &Value, name: Option<&str>) -> String {
    let kind = match text(schema, "type") {
        _ if flag(schema, "x-kubernetes-int-or-string") => "integer or string".to_owned(),
        "" => "any value".to_owned(),
        "object" if matches!(item_schema(schema), Some(("value", ..))) => "map".to_owned(),
        "array" => "list".to_owned(),
        "object" if flag(schema, "x-kubernetes-embedded-resource") => {
            "Kubernetes object".to_owned()
        }
        other => escape_text(other),
    };
    let kind = match text(schema, "format") {
        "" => kind,
        format => format!("{kind}, {}", escape_text(format)),
    };
    match name {
        Some(name) => format!("{} ({kind})", code_span(name)),
        None => kind,
    }
}

/// Returns the demands, and the keywords that have no words.
pub fn describe_facts(schema: &Value) -> (Vec<String>, Map<String, Value>) {
    let mut rest = schema.as_object().cloned().unwrap_or_default();
    ELSEWHERE.iter().for_each(|keyword| drop(rest.remove(*keyword)));
    if item_schema(schema).is_some() {
        let what = if schema["items"].is_object() { "items" } else { "additionalProperties" };
        rest.remove(what);
    }
    let mut facts = Vec::new();
    if rest.remove("nullable") == Some(true.into()) {
        facts.push("nullable".to_owned());
    }
    if let Some(default) = rest.remove("default") {
        facts.push(format!("default {}", code_span(&default.to_string())));
    }
    if let Some(Value::Array(all)) = rest.remove("enum") {
        let all: Vec<String> = all.iter().map(|value| code_span(&value.to_string())).collect();
        facts.extend((!all.is_empty()).then(|| format!("one of {}", all.join(", "))));
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let excludes = rest.remove(exclusive) == Some(true.into());
        if let Some(value) = rest.remove(bound) {
            let word = if excludes { "exclusive " } else { "" };
            facts.push(format!("{word}{bound} {}", code_span(&format_number(&value))));
        }
    }
    for (keyword, words) in BOUNDS {
        match rest.remove(keyword) {
            Some(Value::String(text)) if text.is_empty() => {}
            Some(Value::String(text)) => facts.push(format!("{words} {}", code_span(&text))),
            Some(value) => facts.push(format!("{words} {}", code_span(&format_number(&value)))),
            None => {}
        }
    }
    if let Some(Value::Array(keys)) = rest.remove("x-kubernetes-list-map-keys") {
        let keys: Vec<String> = keys.iter().filter_map(Value::as_str).map(code_span).collect();
        facts.extend((!keys.is_empty()).then(|| format!("list map keys {}", keys.join(", "))));
    }
    if let Some(kind) = rest.remove("x-kubernetes-map-type") {
        facts.push(format!("map type {}", code_span(kind.as_str().unwrap_or_default())));
    }
    if rest.remove("uniqueItems") == Some(true.into()) {
        facts.push("unique items".to_owned());
    }
    if let Some(Value::Array(names)) = rest.remove("required") {
        // Fields that are described say so themselves.
        let other = |value: &&Value| {
            value.as_str().is_none_or(|name| schema["properties"].get(name).is_none())
        };
        let names: Vec<String> =
            names.iter().filter(other).filter_map(Value::as_str).map(code_span).collect();
        facts.extend((!names.is_empty()).then(|| format!("required fields {}", names.join(", "))));
    }
    let keeps = flag(schema, "x-kubernetes-preserve-unknown-fields");
    rest.remove("x-kubernetes-preserve-unknown-fields");
    if keeps && !text(schema, "type").is_empty()
        || schema["additionalProperties"] == true && text(schema, "type") == "object"
    {
        facts.push("unknown fields are kept".to_owned());
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
    (facts, rest)
}

/// Formats a number without the fraction that API servers add: `1` of `1.0`.
fn format_number(value: &Value) -> String {
    match value.as_f64() {
        Some(it) if value.is_f64() && it.fract() == 0.0 && it.abs() < 1e15 => format!("{it:.0}"),
        _ => value.to_string(),
    }
}
