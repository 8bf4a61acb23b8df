//! A value against a structural schema, as kube-openapi's validator sees it.

use std::collections::BTreeSet;

use super::{FieldPath, Findings, Texts, flag, format_of, number, text};
use serde_json::{Map, Value};

/// The beginning of the message about a value that is not of the type in its schema.
pub const WRONG_TYPE: &str = "must be of type";

/// Validates a value, after unknown fields and nulls were removed and defaults were filled in.
pub fn validate(schema: &Value, value: &Value, path: &FieldPath, texts: Texts, findings: &mut Findings) {
    check_type(schema, value, path, findings);
    if !value.is_null() {
        check_alternatives(schema, value, path, texts, findings);
    }
    check_enum(schema, value, path, findings);
    match value {
        Value::String(value) => check_text(schema, value, path, texts, findings),
        Value::Number(value) => number::check(schema, value, path, findings),
        Value::Array(items) => check_list(schema, items, path, texts, findings),
        Value::Object(map) => check_map(schema, map, path, texts, findings),
        _ => {}
    }
}

/// The types that a schema allows; empty where it allows any.
pub fn types(schema: &Value) -> Vec<&str> {
    if flag(schema, "x-kubernetes-int-or-string") {
        return vec!["integer", "string"];
    }
    schema.get("type").and_then(Value::as_str).into_iter().collect()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(it) if it.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check_type(schema: &Value, value: &Value, path: &FieldPath, findings: &mut Findings) {
    let (types, found) = (types(schema), type_of(value));
    let is_numeric = types.contains(&"integer") || types.contains(&"number");
    let has_format = !format_of(schema, &types).is_empty();
    let is_valid = match value {
        _ if types.is_empty() && !has_format => true,
        Value::Null => types.is_empty() || flag(schema, "nullable"),
        // The validator leaves these to the format, which a list does not have.
        Value::String(_) | Value::Array(_) if has_format && !is_numeric => true,
        Value::Number(it) => {
            let is_whole = it.as_f64().is_some_and(number::is_integer);
            types.contains(&found)
                || types.contains(&"number")
                || found == "number" && is_whole && types.contains(&"integer")
        }
        _ => types.contains(&found),
    };
    if !is_valid {
        let expected = types.join(" or ");
        findings.blocking(path, format!("{WRONG_TYPE} {expected}, and is of type {found}"));
    }
}

fn check_enum(schema: &Value, value: &Value, path: &FieldPath, findings: &mut Findings) {
    let Some(allowed) = schema.get("enum").and_then(Value::as_array) else { return };
    let is_equal = |it: &Value| match (it, value) {
        (Value::Null, _) => false,
        (Value::Number(one), Value::Number(other)) => number::is_in_enum(other, one),
        (one, other) => one == other,
    };
    if allowed.is_empty() || allowed.iter().any(is_equal) {
        return;
    }
    let allowed: Vec<String> = allowed.iter().map(|value| format!("`{}`", plain_text(value))).collect();
    findings.blocking(path, format!("must be one of {}", allowed.join(", ")));
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// One fault at most, as the validator gives it, and one of the format.
fn check_text(schema: &Value, value: &str, path: &FieldPath, texts: Texts, findings: &mut Findings) {
    let length = value.chars().count();
    let pattern = text(schema, "pattern");
    if limit(schema, "maxLength").is_some_and(|maximum| maximum < length as f64) {
        let most = &schema["maxLength"];
        findings.blocking(path, format!("must have at most {most} characters"));
    } else if limit(schema, "minLength").is_some_and(|minimum| (length as f64) < minimum) {
        let least = &schema["minLength"];
        findings.fault(path, format!("must have at least {least} characters"));
    } else if !pattern.is_empty() {
        match (texts.matches)(pattern, value) {
            Some(true) => {}
            Some(false) => findings.fault(path, format!("must match the pattern `{pattern}`")),
            None => findings.unchecked(path, format!("is not checked against the pattern `{pattern}`")),
        }
    }
    let name = format_of(schema, &types(schema));
    match (texts.has_format)(name, value) {
        Some(true) => {}
        Some(false) => findings.blocking(path, format!("must have the format `{name}`")),
        None => findings.unchecked(path, format!("is not checked for the format `{name}`")),
    }
}

pub fn limit(schema: &Value, key: &str) -> Option<f64> {
    schema.get(key).and_then(Value::as_f64)
}

fn check_list(schema: &Value, items: &[Value], path: &FieldPath, texts: Texts, findings: &mut Findings) {
    if let Some(schema) = schema.get("items").filter(|items| items.is_object()) {
        for (at, item) in items.iter().enumerate() {
            validate(schema, item, &path.item(at), texts, findings);
        }
    }
    if limit(schema, "minItems").is_some_and(|minimum| (items.len() as f64) < minimum) {
        findings.fault(path, format!("must have at least {} items", schema["minItems"]));
    }
    if limit(schema, "maxItems").is_some_and(|maximum| maximum < items.len() as f64) {
        findings.blocking(path, format!("must have at most {} items", schema["maxItems"]));
    }
    if flag(schema, "uniqueItems") && items.iter().map(Value::to_string).collect::<BTreeSet<_>>().len() < items.len() {
        findings.fault(path, "must not have the same item twice");
    }
}

fn check_map(schema: &Value, map: &Map<String, Value>, path: &FieldPath, texts: Texts, findings: &mut Findings) {
    if limit(schema, "minProperties").is_some_and(|minimum| (map.len() as f64) < minimum) {
        findings.fault(path, format!("must have at least {} entries", schema["minProperties"]));
    }
    if limit(schema, "maxProperties").is_some_and(|maximum| maximum < map.len() as f64) {
        findings.blocking(path, format!("must have at most {} entries", schema["maxProperties"]));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties");
    for (key, value) in map {
        match (properties.and_then(|fields| fields.get(key)), others) {
            (Some(schema), _) | (None, Some(schema @ Value::Object(_))) => {
                validate(schema, value, &path.key(key), texts, findings);
            }
            (None, Some(Value::Bool(false))) => findings.fault(&path.key(key), "is not allowed"),
            (None, _) => {}
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for key in required.filter_map(Value::as_str).filter(|key| !map.contains_key(*key)) {
        findings.blocking(&path.key(key), "is required, but missing");
    }
}

/// Returns whether a value is valid by one of several schemas, or nothing if that is not known.
fn is_valid(schema: &Value, value: &Value, path: &FieldPath, texts: Texts) -> Option<bool> {
    let mut findings = Findings::default();
    validate(schema, value, path, texts, &mut findings);
    let is_valid = findings.faults.is_empty();
    (!is_valid || findings.unchecked.is_empty()).then_some(is_valid)
}

fn check_alternatives(schema: &Value, value: &Value, path: &FieldPath, texts: Texts, findings: &mut Findings) {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for schema in list("allOf") {
        validate(schema, value, path, texts, findings);
    }
    let count = |key: &str| {
        let results: Vec<_> = list(key).iter().map(|branch| is_valid(branch, value, path, texts)).collect();
        let valid = results.iter().filter(|result| **result == Some(true)).count();
        let unknown = results.iter().filter(|result| result.is_none()).count();
        (results.len(), valid, unknown)
    };
    const UNCHECKED: &str = "is not checked against";
    match count("anyOf") {
        (0, ..) | (_, 1.., _) => {}
        (all, 0, 0) => findings.fault(path, format!("matches none of the {all} schemas of `anyOf`")),
        (_, 0, _) => findings.unchecked(path, format!("{UNCHECKED} `anyOf`")),
    }
    match count("oneOf") {
        (0, ..) | (_, 1, 0) => {}
        (all, 0, 0) => findings.fault(path, format!("matches none of the {all} schemas of `oneOf`")),
        (_, valid @ 2.., _) => {
            findings.fault(path, format!("matches {valid} schemas of `oneOf`, and must match one"));
        }
        _ => findings.unchecked(path, format!("{UNCHECKED} `oneOf`")),
    }
    match schema.get("not").map(|schema| is_valid(schema, value, path, texts)) {
        None | Some(Some(false)) => {}
        Some(Some(true)) => findings.fault(path, "matches the schema of `not`"),
        Some(None) => findings.unchecked(path, format!("{UNCHECKED} `not`")),
    }
}
