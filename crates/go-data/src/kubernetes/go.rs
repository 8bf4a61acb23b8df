//! Reads and writes JSON as Go's encoding/json does.

use std::fmt::Write as _;

use crate::yaml::{Map, Number, Value, json};

/// Finds a field of a Go struct by its name in any case.
pub fn find_field<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let in_any_case =
        || map.iter().find(|entry| entry.0.eq_ignore_ascii_case(name)).map(|entry| entry.1);
    map.get(name).or_else(in_any_case).filter(|value| !value.is_null())
}

/// Finds a field of a Go struct by its name in any case, to change it.
pub fn find_field_mut<'a>(map: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Value> {
    let value = if map.contains_key(name) {
        map.get_mut(name)
    } else {
        map.iter_mut().find(|entry| entry.0.eq_ignore_ascii_case(name)).map(|entry| entry.1)
    };
    value.filter(|value| !value.is_null())
}

/// Describes the type of a JSON value, for a sentence.
pub fn describe_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Converts untyped data as Go does: every number is a `float64`.
pub fn to_floats(value: Value) -> Value {
    map_numbers(value, &|number| number.as_f64().map_or(Value::Null, to_whole_number))
}

/// Converts untyped data as Kubernetes' decoder does: whole numbers are an `int64` where they fit.
pub fn to_integers(value: Value) -> Value {
    map_numbers(value, &|number| match number.as_i64() {
        Some(number) => json!(number),
        None => number.as_f64().map_or(Value::Null, to_whole_number),
    })
}

fn map_numbers(mut value: Value, change: &impl Fn(&Number) -> Value) -> Value {
    change_numbers(&mut value, change);
    value
}

fn change_numbers(value: &mut Value, change: &impl Fn(&Number) -> Value) {
    match value {
        Value::Number(number) => *value = change(number),
        Value::Array(items) => items.iter_mut().for_each(|item| change_numbers(item, change)),
        Value::Object(map) => map.values_mut().for_each(|value| change_numbers(value, change)),
        _ => {}
    }
}

/// Returns a float as a whole number, if that is equal.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "both are checked"
)]
fn to_whole_number(float: f64) -> Value {
    // Every `float64` below 2^63 that has no fraction is an `int64`.
    let integer = float as i64;
    if integer as f64 == float && float.abs() < 9.2e18 { json!(integer) } else { json!(float) }
}

/// Formats compact JSON as `json.Marshal` does: `<`, `>` and `&` are escaped, and so are U+2028 and U+2029.
pub fn marshal(value: &Value) -> String {
    let mut json_text = String::new();
    write_value(value, true, &mut json_text);
    json_text
}

/// Formats compact JSON without the escapes of `<`, `>` and `&`.
pub fn marshal_unescaped(value: &Value) -> String {
    let mut json_text = String::new();
    write_value(value, false, &mut json_text);
    json_text
}

fn write_value(value: &Value, escape: bool, json_text: &mut String) {
    match value {
        Value::Number(number) => write_number(number, json_text),
        Value::String(text) => write_string(text, escape, json_text),
        Value::Array(items) => {
            json_text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    json_text.push(',');
                }
                write_value(item, escape, json_text);
            }
            json_text.push(']');
        }
        Value::Object(map) => {
            json_text.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    json_text.push(',');
                }
                write_string(key, escape, json_text);
                json_text.push(':');
                write_value(item, escape, json_text);
            }
            json_text.push('}');
        }
        Value::Null => json_text.push_str("null"),
        Value::Bool(boolean) => json_text.push_str(if *boolean { "true" } else { "false" }),
    }
}

fn write_number(number: &Number, json_text: &mut String) {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        let _ = write!(json_text, "{number}");
        return;
    };
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        let _ = write!(json_text, "{float}");
        return;
    }
    let text = format!("{float:e}");
    json_text.push_str(&if size < 1.0 { text } else { text.replace('e', "e+") });
}

fn write_string(text: &str, escape: bool, json_text: &mut String) {
    json_text.push('"');
    for c in text.chars() {
        match c {
            '"' => json_text.push_str("\\\""),
            '\\' => json_text.push_str("\\\\"),
            '\n' => json_text.push_str("\\n"),
            '\r' => json_text.push_str("\\r"),
            '\t' => json_text.push_str("\\t"),
            '\u{8}' => json_text.push_str("\\b"),
            '\u{c}' => json_text.push_str("\\f"),
            '<' | '>' | '&' if escape => drop(write!(json_text, "\\u{:04x}", u32::from(c))),
            '\0'..=' ' if c != ' ' => drop(write!(json_text, "\\u{:04x}", u32::from(c))),
            '\u{2028}' | '\u{2029}' => drop(write!(json_text, "\\u{:04x}", u32::from(c))),
            c => json_text.push(c),
        }
    }
    json_text.push('"');
}

/// Formats a text in quotes, as `%q` does.
pub fn format_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{b}' => quoted.push_str("\\v"),
            '\u{c}' => quoted.push_str("\\f"),
            c if c < ' ' || c == '\u{7f}' => drop(write!(quoted, "\\x{:02x}", u32::from(c))),
            c if is_printed(c) => quoted.push(c),
            c if u32::from(c) < 0x1_0000 => drop(write!(quoted, "\\u{:04x}", u32::from(c))),
            c => drop(write!(quoted, "\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns whether a terminal shows a character as itself.
fn is_printed(c: char) -> bool {
    !c.is_control() && (c == ' ' || !c.is_whitespace()) && c.escape_debug().count() == 1
}

#[test]
fn numbers_and_texts_are_written_as_go_writes_them() {
    let value =
        json!({"a": [1.0, 1e21, 1e-7, 0.5, 18_446_744_073_709_551_615_u64, "<&>\u{2028}\u{1}é"]});
    assert_eq!(
        marshal(&to_integers(value.clone())),
        r#"{"a":[1,1e+21,1e-7,0.5,18446744073709552000,"\u003c\u0026\u003e\u2028\u0001é"]}"#
    );
    assert_eq!(marshal_unescaped(&json!(["<"])), r#"["<"]"#);
    let big = json!(9_007_199_254_740_993_i64);
    assert_eq!(
        (marshal_unescaped(&to_floats(big.clone())), marshal_unescaped(&to_integers(big))),
        ("9007199254740992".into(), "9007199254740993".into())
    );
    assert_eq!(format_quoted("a\"b\n\u{1b}\u{200b}é"), r#""a\"b\n\x1b\u200bé""#);
}
