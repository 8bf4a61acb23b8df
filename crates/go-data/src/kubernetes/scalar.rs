//! Decodes strings, numbers and other values that are not structs, lists or maps in Go.

use std::ops::RangeInclusive;

use crate::yaml::{Value, json};

/// The reason why a value cannot be decoded.
pub enum ScalarError {
    /// The type that it must have.
    Type(&'static str),
    /// Its field is also given in another spelling.
    Twice(&'static str),
}

/// Returns a value as it is after Go has decoded and encoded it.
pub fn decode_scalar(type_: &str, value: &Value, coerce: bool) -> Result<Value, ScalarError> {
    if value.is_null() && type_ != "version" {
        return Ok(zero_value(type_));
    }
    match type_ {
        "bool" => {
            value.is_boolean().then(|| value.clone()).ok_or(ScalarError::Type("true or false"))
        }
        "int32" => decode_integer(value, i64::from(i32::MIN)..=i64::from(i32::MAX))
            .ok_or(ScalarError::Type("a whole number of 32 bits")),
        "int64" => decode_integer(value, i64::MIN..=i64::MAX)
            .ok_or(ScalarError::Type("a whole number of 64 bits")),
        "float64" => {
            value.is_number().then(|| normalize_numbers(value)).ok_or(ScalarError::Type("a number"))
        }
        "intOrString" if value.is_string() => Ok(value.clone()),
        "intOrString" => decode_integer(value, i64::from(i32::MIN)..=i64::from(i32::MAX))
            .ok_or(ScalarError::Type("a whole number of 32 bits or a string")),
        "bytes" => decode_bytes(value).ok_or(ScalarError::Type("a string in base64")),
        "time" => {
            decode_time(value).ok_or(ScalarError::Type("a time such as `2006-01-02T15:04:05Z`"))
        }
        "version" => {
            decode_version(value).ok_or(ScalarError::Type("a semantic version such as `1.2.3`"))
        }
        "fields" | "json" | "raw" => Ok(normalize_numbers(value)),
        _ => decode_string(value, coerce).ok_or(ScalarError::Type("a string")),
    }
}

/// Returns the value that Go encodes for a missing one.
pub fn zero_value(type_: &str) -> Value {
    match type_ {
        "string" => json!(""),
        "bool" => json!(false),
        "int32" | "int64" | "float64" | "intOrString" => json!(0),
        "quantity" => json!("0"),
        "version" => json!("0.0.0"),
        _ => Value::Null,
    }
}

/// Returns data without a type as Go encodes it: JSON has one kind of number, and whole ones are written without a
/// fraction.
pub fn normalize_numbers(value: &Value) -> Value {
    match value {
        Value::Number(_) => {
            decode_integer(value, i64::MIN..=i64::MAX).unwrap_or_else(|| value.clone())
        }
        Value::Array(items) => items.iter().map(normalize_numbers).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, item)| (key.clone(), normalize_numbers(item))).collect()
        }
        _ => value.clone(),
    }
}

/// Describes a value for a message.
pub fn describe_value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => format!("the boolean `{value}`"),
        Value::Number(_) => format!("the number `{value}`"),
        Value::String(text) if text.chars().count() <= 60 => format!("the string `{text}`"),
        Value::String(_) => "a long string".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    }
}

/// Formats a float as encoding/json does; `None` for integers.
pub fn format_float(value: &Value) -> Option<String> {
    let number = value.as_number()?;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return Some(float.to_string());
    }
    let text = format!("{float:e}");
    Some(if size < 1.0 { text } else { text.replace('e', "e+") })
}

fn decode_integer(value: &Value, range: RangeInclusive<i64>) -> Option<Value> {
    let integer = match value.as_number()? {
        number if number.is_f64() => format_float(value)?.parse().ok()?,
        number => number.as_i64()?,
    };
    range.contains(&integer).then(|| json!(integer))
}

fn decode_string(value: &Value, coerce: bool) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Bool(_) if coerce => Some(json!(value.to_string())),
        Value::Number(number) if coerce && number.is_f64() => {
            Some(json!(format_short_float(number.as_f64()?)))
        }
        Value::Number(number) if coerce => Some(json!(number.to_string())),
        _ => None,
    }
}

/// Formats a float as Go's `FormatFloat(…, 'g', -1, 32)`.
fn format_short_float(float: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "sigs.k8s.io/yaml keeps 32 bits of it")]
    let float = float as f32;
    let text = format!("{float:e}");
    let exponent =
        text.split_once('e').and_then(|parts| parts.1.parse::<i32>().ok()).unwrap_or_default();
    if float == 0.0 || (-4..6).contains(&exponent) {
        return float.to_string();
    }
    let mantissa = text.split_once('e').map_or(text.as_str(), |parts| parts.0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn decode_bytes(value: &Value) -> Option<Value> {
    let text = value.as_str()?.replace(['\r', '\n'], "");
    let bytes: k8s_openapi::ByteString = serde_json::from_value(json!(text)).ok()?;
    serde_json::to_value(bytes).ok()
}

fn decode_time(value: &Value) -> Option<Value> {
    let text = value.as_str()?;
    let shape = text.get(..19)?.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    let time: jiff::Timestamp = text.parse().ok()?;
    if !shape.eq("0000-00-00T00:00:00".bytes()) {
        return None;
    }
    let time = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    // This is the zero of Go's times.
    Some(if time == "0001-01-01T00:00:00Z" { Value::Null } else { json!(time) })
}

/// Decodes a version as OLM does: `v`, leading zeros and missing numbers are allowed.
fn decode_version(value: &Value) -> Option<Value> {
    let text = if value.is_null() { "" } else { value.as_str()? };
    let text = text.trim();
    let parts: Vec<&str> = text.strip_prefix('v').unwrap_or(text).splitn(3, '.').collect();
    if parts.len() < 3 && parts.last().is_some_and(|part| part.contains(['+', '-'])) {
        return None;
    }
    let number = |part: &str| match part.trim_start_matches('0') {
        _ if part.len() < 2 => part.to_owned(),
        rest if rest.starts_with(|c: char| c.is_ascii_digit()) => rest.to_owned(),
        rest => format!("0{rest}"),
    };
    let [major, minor, patch] =
        [0, 1, 2].map(|at| parts.get(at).map_or("0".to_owned(), |part| number(part)));
    let version = format!("{major}.{minor}.{patch}");
    super::version::Version::parse(&version)?;
    Some(json!(version))
}
