//! Writes values as text, in block style, as Go prints Kubernetes objects. The items of a list are not indented below
//! their key, a string of several lines is a literal block, and nothing is folded.

use std::fmt::Write as _;

use super::{Value, plain};

/// One document, ending in a newline, without `---`.
pub fn to_text(value: &Value) -> String {
    let mut res = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block_map(map, 0, &mut res),
        Value::Array(list) if !list.is_empty() => block_list(list, 0, &mut res),
        scalar => {
            res.push_str(&inline(scalar, 0));
            res.push('\n');
        }
    }
    res
}

/// The entries of a map. The first one is written at the current position, without indentation.
fn block_map(map: &super::Map<String, Value>, indent: usize, res: &mut String) {
    for (at, (key, value)) in map.iter().enumerate() {
        if at > 0 {
            pad(indent, res);
        }
        let key = quoted(key);
        // A parser looks for the colon of a simple key only in the next 1024 characters.
        if key.len() > 1000 {
            res.push_str("? ");
            res.push_str(&key);
            res.push('\n');
            pad(indent, res);
        } else {
            res.push_str(&key);
        }
        res.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                res.push('\n');
                pad(indent + 2, res);
                block_map(inner, indent + 2, res);
            }
            Value::Array(list) if !list.is_empty() => {
                res.push('\n');
                pad(indent, res);
                block_list(list, indent, res);
            }
            scalar => {
                res.push(' ');
                res.push_str(&inline(scalar, indent + 2));
                res.push('\n');
            }
        }
    }
}

fn block_list(list: &[Value], indent: usize, res: &mut String) {
    for (at, value) in list.iter().enumerate() {
        if at > 0 {
            pad(indent, res);
        }
        res.push_str("- ");
        match value {
            Value::Object(map) if !map.is_empty() => block_map(map, indent + 2, res),
            Value::Array(inner) if !inner.is_empty() => block_list(inner, indent + 2, res),
            scalar => {
                res.push_str(&inline(scalar, indent + 2));
                res.push('\n');
            }
        }
    }
}

fn pad(indent: usize, res: &mut String) {
    res.extend(std::iter::repeat_n(' ', indent));
}

/// A value that needs no lines of its own. The lines of a literal are indented by `indent`.
fn inline(value: &Value, indent: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => number(it),
        Value::String(text) => literal(text, indent).unwrap_or_else(|| quoted(text)),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// A number that YAML 1.1 reads as a number, too: an exponent needs a decimal point and a sign there.
fn number(number: &serde_json::Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// A literal block, for a text of several lines that it can represent unchanged.
fn literal(text: &str, indent: usize) -> Option<String> {
    let body = text.trim_end_matches('\n');
    let first = body.split('\n').find(|it| !it.is_empty())?;
    // The first line determines the indentation, so it must not begin with a blank or consist of blanks.
    let clear = !first.starts_with([' ', '\t'])
        && !body.starts_with('\n')
        && !body.split('\n').any(|it| !it.is_empty() && it.trim_matches([' ', '\t']).is_empty());
    if !text.contains('\n') || !clear || !body.chars().all(|c| c == '\n' || is_plain_char(c)) {
        return None;
    }
    let sign = match text.len() - body.len() {
        0 => "|-",
        1 => "|",
        _ => "|+",
    };
    let mut res = sign.to_owned();
    for line in body.split('\n') {
        res.push('\n');
        if !line.is_empty() {
            pad(indent.max(2), &mut res);
            res.push_str(line);
        }
    }
    // The caller adds the newline that ends the line.
    res.extend(std::iter::repeat_n('\n', (text.len() - body.len()).saturating_sub(1)));
    Some(res)
}

/// A string on one line, in quotes if a parser might read it as something else.
fn quoted(text: &str) -> String {
    if !text.chars().all(is_plain_char) || plain::is_suspicious(text) {
        return double_quoted(text);
    }
    if is_plain(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    let starts_well = match (chars.next(), chars.next()) {
        (Some('-'), Some(second)) => second != ' ',
        (Some(first), _) => !" -?:,[]{}#&*!|>'\"%@`=".contains(first),
        (None, _) => false,
    };
    starts_well
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("---")
        && !text.starts_with("...")
}

/// A character that every parser reads unchanged: no control character, no line break, no byte order mark, none
/// outside the Basic Multilingual Plane.
fn is_plain_char(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn double_quoted(text: &str) -> String {
    let mut res = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => res.push_str("\\\""),
            '\\' => res.push_str("\\\\"),
            '\n' => res.push_str("\\n"),
            '\t' => res.push_str("\\t"),
            '\r' => res.push_str("\\r"),
            c if is_plain_char(c) => res.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..0x100 => write!(res, "\\x{code:02x}"),
                    0x100..0x1_0000 => write!(res, "\\u{code:04x}"),
                    _ => write!(res, "\\U{code:08x}"),
                };
            }
        }
    }
    res.push('"');
    res
}
