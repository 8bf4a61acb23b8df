//! Strings, numbers and other values that are not structs, lists or maps in Go.

use std::ops::RangeInclusive;

use crate::yaml::{Value, json};

/// Why a value cannot be read.
pub enum Fault {
    /// The type that it must have.
    Kind(&'static str),
    /// Its field is also given in another spelling.
    Twice(&'static str),
}

/// A value after Go has decoded and encoded it.
pub fn decode(type_: &str, value: &Value, coerce: bool) -> Result<Value, Fault> {
    if value.is_null() && type_ != "version" {
        return Ok(zero(type_));
    }
    match type_ {
        "bool" => value.is_boolean().then(|| value.clone()).ok_or(Fault::Kind("true or false")),
        "int32" => integer(value, i64::from(i32::MIN)..=i64::from(i32::MAX))
            .ok_or(Fault::Kind("a whole number of 32 bits")),
        "int64" => {
            integer(value, i64::MIN..=i64::MAX).ok_or(Fault::Kind("a whole number of 64 bits"))
        }
        "float64" => value.is_number().then(|| raw(value)).ok_or(Fault::Kind("a number")),
        "intOrString" if value.is_string() => Ok(value.clone()),
        "intOrString" => integer(value, i64::from(i32::MIN)..=i64::from(i32::MAX))
            .ok_or(Fault::Kind("a whole number of 32 bits or a string")),
        "bytes" => bytes(value).ok_or(Fault::Kind("a string in base64")),
        "time" => time(value).ok_or(Fault::Kind("a time such as `2006-01-02T15:04:05Z`")),
        "version" => version(value).ok_or(Fault::Kind("a semantic version such as `1.2.3`")),
        "fields" | "json" | "raw" => Ok(raw(value)),
        _ => string(value, coerce).ok_or(Fault::Kind("a string")),
    }
}

/// What Go encodes for a missing value.
pub fn zero(type_: &str) -> Value {
    match type_ {
        "string" => json!(""),
        "bool" => json!(false),
        "int32" | "int64" | "float64" | "intOrString" => json!(0),
        "quantity" => json!("0"),
        "version" => json!("0.0.0"),
        _ => Value::Null,
    }
}

/// Data without a type: JSON has one kind of number, and whole ones are written without a fraction.
pub fn raw(value: &Value) -> Value {
    match value {
        Value::Number(_) => integer(value, i64::MIN..=i64::MAX).unwrap_or_else(|| value.clone()),
        Value::Array(items) => items.iter().map(raw).collect(),
        Value::Object(map) => map.iter().map(|(key, item)| (key.clone(), raw(item))).collect(),
        _ => value.clone(),
    }
}

/// How messages name a value.
pub fn title(value: &Value) -> String {
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

/// A number as encoding/json writes it.
pub fn number(value: &Value) -> Option<String> {
    let number = value.as_number()?;
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return Some(float.to_string());
    }
    let text = format!("{float:e}");
    Some(if size < 1.0 { text } else { text.replace('e', "e+") })
}

fn integer(value: &Value, range: RangeInclusive<i64>) -> Option<Value> {
    let integer = match value.as_number()? {
        it if it.is_f64() => number(value)?.parse().ok()?,
        it => it.as_i64()?,
    };
    range.contains(&integer).then(|| json!(integer))
}

fn string(value: &Value, coerce: bool) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Bool(_) if coerce => Some(json!(value.to_string())),
        Value::Number(it) if coerce && it.is_f64() => Some(json!(short(it.as_f64()?))),
        Value::Number(it) if coerce => Some(json!(it.to_string())),
        _ => None,
    }
}

/// Go's `FormatFloat(…, 'g', -1, 32)`.
fn short(float: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "sigs.k8s.io/yaml keeps 32 bits of it")]
    let float = float as f32;
    let text = format!("{float:e}");
    let exponent = text.split_once('e').and_then(|it| it.1.parse::<i32>().ok()).unwrap_or_default();
    if float == 0.0 || (-4..6).contains(&exponent) {
        return float.to_string();
    }
    let mantissa = text.split_once('e').map_or(text.as_str(), |it| it.0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn bytes(value: &Value) -> Option<Value> {
    let text = value.as_str()?.replace(['\r', '\n'], "");
    let bytes: k8s_openapi::ByteString = serde_json::from_value(json!(text)).ok()?;
    serde_json::to_value(bytes).ok()
}

fn time(value: &Value) -> Option<Value> {
    let text = value.as_str()?;
    let shape = text.get(..19)?.bytes().map(|it| if it.is_ascii_digit() { b'0' } else { it });
    let time: jiff::Timestamp = text.parse().ok()?;
    if !shape.eq("0000-00-00T00:00:00".bytes()) {
        return None;
    }
    let time = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    // The zero of Go's times.
    Some(if time == "0001-01-01T00:00:00Z" { Value::Null } else { json!(time) })
}

/// A version as OLM reads it: `v`, leading zeros and missing numbers are forgiven.
fn version(value: &Value) -> Option<Value> {
    let text = if value.is_null() { "" } else { value.as_str()? };
    let text = text.trim();
    let parts: Vec<&str> = text.strip_prefix('v').unwrap_or(text).splitn(3, '.').collect();
    if parts.len() < 3 && parts.last().is_some_and(|it| it.contains(['+', '-'])) {
        return None;
    }
    let number = |it: &str| match it.trim_start_matches('0') {
        _ if it.len() < 2 => it.to_owned(),
        rest if rest.starts_with(|c: char| c.is_ascii_digit()) => rest.to_owned(),
        rest => format!("0{rest}"),
    };
    let [major, minor, patch] =
        [0, 1, 2].map(|it| parts.get(it).map_or("0".to_owned(), |it| number(it)));
    let version = format!("{major}.{minor}.{patch}");
    super::version::Version::parse(&version)?;
    Some(json!(version))
}
