//! JSON as Go's encoding/json reads and writes it.

use std::fmt::Write as _;

use crate::yaml::{Map, Number, Value, json};

/// A field of a Go struct: its name in any case.
pub fn field<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let any = || map.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1);
    map.get(name).or_else(any).filter(|it| !it.is_null())
}

/// A mutable field of a Go struct: its name in any case.
pub fn field_mut<'a>(map: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Value> {
    let value = match map.contains_key(name) {
        true => map.get_mut(name),
        false => map.iter_mut().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1),
    };
    value.filter(|it| !it.is_null())
}

/// What a value of JSON is, in a sentence.
pub fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Data that Go reads without a type: every number is a `float64`.
pub fn floats(value: Value) -> Value {
    each_number(value, &|it| it.as_f64().map_or(Value::Null, whole))
}

/// Data that Kubernetes' decoder reads without a type: whole numbers are an `int64` where they fit.
pub fn integers(value: Value) -> Value {
    each_number(value, &|it| match it.as_i64() {
        Some(it) => json!(it),
        None => it.as_f64().map_or(Value::Null, whole),
    })
}

fn each_number(mut value: Value, change: &impl Fn(&Number) -> Value) -> Value {
    change_numbers(&mut value, change);
    value
}

fn change_numbers(value: &mut Value, change: &impl Fn(&Number) -> Value) {
    match value {
        Value::Number(it) => *value = change(it),
        Value::Array(items) => items.iter_mut().for_each(|it| change_numbers(it, change)),
        Value::Object(map) => map.values_mut().for_each(|it| change_numbers(it, change)),
        _ => {}
    }
}

/// A float, as a whole number where that is the same.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "both are checked"
)]
fn whole(float: f64) -> Value {
    // Every `float64` below 2^63 that has no fraction is an `int64`.
    let integer = float as i64;
    if integer as f64 == float && float.abs() < 9.2e18 { json!(integer) } else { json!(float) }
}

/// Compact JSON as `json.Marshal` writes it: `<`, `>` and `&` are escaped, and so are U+2028 and U+2029.
pub fn marshal(value: &Value) -> String {
    let mut res = String::new();
    write(value, true, &mut res);
    res
}

/// Compact JSON without these escapes.
pub fn compact(value: &Value) -> String {
    let mut res = String::new();
    write(value, false, &mut res);
    res
}

fn write(value: &Value, escape: bool, res: &mut String) {
    match value {
        Value::Number(it) => number(it, res),
        Value::String(it) => string(it, escape, res),
        Value::Array(items) => {
            res.push('[');
            for (at, it) in items.iter().enumerate() {
                if at > 0 {
                    res.push(',');
                }
                write(it, escape, res);
            }
            res.push(']');
        }
        Value::Object(map) => {
            res.push('{');
            for (at, (key, it)) in map.iter().enumerate() {
                if at > 0 {
                    res.push(',');
                }
                string(key, escape, res);
                res.push(':');
                write(it, escape, res);
            }
            res.push('}');
        }
        Value::Null => res.push_str("null"),
        Value::Bool(it) => res.push_str(if *it { "true" } else { "false" }),
    }
}

fn number(number: &Number, res: &mut String) {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
        let _ = write!(res, "{number}");
        return;
    };
    let size = float.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        let _ = write!(res, "{float}");
        return;
    }
    let text = format!("{float:e}");
    res.push_str(&if size < 1.0 { text } else { text.replace('e', "e+") });
}

fn string(text: &str, escape: bool, res: &mut String) {
    res.push('"');
    for c in text.chars() {
        match c {
            '"' => res.push_str("\\\""),
            '\\' => res.push_str("\\\\"),
            '\n' => res.push_str("\\n"),
            '\r' => res.push_str("\\r"),
            '\t' => res.push_str("\\t"),
            '\u{8}' => res.push_str("\\b"),
            '\u{c}' => res.push_str("\\f"),
            '<' | '>' | '&' if escape => drop(write!(res, "\\u{:04x}", u32::from(c))),
            '\0'..=' ' if c != ' ' => drop(write!(res, "\\u{:04x}", u32::from(c))),
            '\u{2028}' | '\u{2029}' => drop(write!(res, "\\u{:04x}", u32::from(c))),
            c => res.push(c),
        }
    }
    res.push('"');
}

/// A text in quotes, as `%q` prints it.
pub fn quoted(text: &str) -> String {
    let mut res = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => res.push_str("\\\""),
            '\\' => res.push_str("\\\\"),
            '\n' => res.push_str("\\n"),
            '\r' => res.push_str("\\r"),
            '\t' => res.push_str("\\t"),
            '\u{7}' => res.push_str("\\a"),
            '\u{8}' => res.push_str("\\b"),
            '\u{b}' => res.push_str("\\v"),
            '\u{c}' => res.push_str("\\f"),
            c if c < ' ' || c == '\u{7f}' => drop(write!(res, "\\x{:02x}", u32::from(c))),
            c if is_printed(c) => res.push(c),
            c if u32::from(c) < 0x1_0000 => drop(write!(res, "\\u{:04x}", u32::from(c))),
            c => drop(write!(res, "\\U{:08x}", u32::from(c))),
        }
    }
    res.push('"');
    res
}

/// Whether a terminal shows it as itself.
fn is_printed(c: char) -> bool {
    !c.is_control() && (c == ' ' || !c.is_whitespace()) && c.escape_debug().count() == 1
}

#[test]
fn numbers_and_texts_are_written_as_go_writes_them() {
    let value =
        json!({"a": [1.0, 1e21, 1e-7, 0.5, 18_446_744_073_709_551_615_u64, "<&>\u{2028}\u{1}é"]});
    assert_eq!(
        marshal(&integers(value.clone())),
        r#"{"a":[1,1e+21,1e-7,0.5,18446744073709552000,"\u003c\u0026\u003e\u2028\u0001é"]}"#
    );
    assert_eq!(compact(&json!(["<"])), r#"["<"]"#);
    let big = json!(9_007_199_254_740_993_i64);
    assert_eq!(
        (compact(&floats(big.clone())), compact(&integers(big))),
        ("9007199254740992".into(), "9007199254740993".into())
    );
    assert_eq!(quoted("a\"b\n\u{1b}\u{200b}é"), r#""a\"b\n\x1b\u200bé""#);
}
