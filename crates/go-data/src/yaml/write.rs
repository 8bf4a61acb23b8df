//! Writes values as text, in block style, as Go prints Kubernetes objects. The items of a list are not indented below
//! their key, a string of several lines is a literal block, and nothing is folded.

use std::fmt::Write as _;

use super::{Value, plain};

/// Formats one document, ending in a newline, without `---`.
pub fn to_text(value: &Value) -> String {
    let mut output = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => write_block_map(map, 0, &mut output),
        Value::Array(list) if !list.is_empty() => write_block_list(list, 0, &mut output),
        scalar => {
            output.push_str(&format_inline(scalar, 0));
            output.push('\n');
        }
    }
    output
}

/// Writes the entries of a mapping. The first one is written at the current position, without indentation.
fn write_block_map(map: &super::Map<String, Value>, indent: usize, output: &mut String) {
    for (at, (key, value)) in map.iter().enumerate() {
        if at > 0 {
            write_indent(indent, output);
        }
        let key = format_quoted(key);
        // A parser looks for the colon of a simple key only in the next 1024 characters.
        if key.len() > 1000 {
            output.push_str("? ");
            output.push_str(&key);
            output.push('\n');
            write_indent(indent, output);
        } else {
            output.push_str(&key);
        }
        output.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                output.push('\n');
                write_indent(indent + 2, output);
                write_block_map(inner, indent + 2, output);
            }
            Value::Array(list) if !list.is_empty() => {
                output.push('\n');
                write_indent(indent, output);
                write_block_list(list, indent, output);
            }
            scalar => {
                output.push(' ');
                output.push_str(&format_inline(scalar, indent + 2));
                output.push('\n');
            }
        }
    }
}

fn write_block_list(list: &[Value], indent: usize, output: &mut String) {
    for (at, value) in list.iter().enumerate() {
        if at > 0 {
            write_indent(indent, output);
        }
        output.push_str("- ");
        match value {
            Value::Object(map) if !map.is_empty() => write_block_map(map, indent + 2, output),
            Value::Array(inner) if !inner.is_empty() => write_block_list(inner, indent + 2, output),
            scalar => {
                output.push_str(&format_inline(scalar, indent + 2));
                output.push('\n');
            }
        }
    }
}

fn write_indent(indent: usize, output: &mut String) {
    output.extend(std::iter::repeat_n(' ', indent));
}

/// Formats a value that begins on the line of its key. The lines of a literal are indented by `indent`.
fn format_inline(value: &Value, indent: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Number(number) => format_number(number),
        Value::String(text) => format_literal(text, indent).unwrap_or_else(|| format_quoted(text)),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// Formats a number so that YAML 1.1 reads it as a number, too: an exponent needs a decimal point and a sign there.
fn format_number(number: &serde_json::Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

/// Formats a literal block, for a text of several lines that it can represent unchanged.
fn format_literal(text: &str, indent: usize) -> Option<String> {
    let body = text.trim_end_matches('\n');
    let first = body.split('\n').find(|line| !line.is_empty())?;
    // The first line determines the indentation, so it must not begin with a blank or consist of blanks.
    let clear = !first.starts_with([' ', '\t'])
        && !body.starts_with('\n')
        && !body
            .split('\n')
            .any(|line| !line.is_empty() && line.trim_matches([' ', '\t']).is_empty());
    if !text.contains('\n') || !clear || !body.chars().all(|c| c == '\n' || is_plain_char(c)) {
        return None;
    }
    let sign = match text.len() - body.len() {
        0 => "|-",
        1 => "|",
        _ => "|+",
    };
    let mut output = sign.to_owned();
    for line in body.split('\n') {
        output.push('\n');
        if !line.is_empty() {
            write_indent(indent.max(2), &mut output);
            output.push_str(line);
        }
    }
    // The caller adds the newline that ends the line.
    output.extend(std::iter::repeat_n('\n', (text.len() - body.len()).saturating_sub(1)));
    Some(output)
}

/// Formats a string on one line, in quotes if a parser might read it as something else.
fn format_quoted(text: &str) -> String {
    if !text.chars().all(is_plain_char) || plain::is_suspicious(text) {
        return format_double_quoted(text);
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

/// Returns whether every parser reads a character unchanged: no control character, no line break, no byte order mark,
/// none outside the Basic Multilingual Plane.
fn is_plain_char(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn format_double_quoted(text: &str) -> String {
    let mut output = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => output.push_str("\\\""),
            '\\' => output.push_str("\\\\"),
            '\n' => output.push_str("\\n"),
            '\t' => output.push_str("\\t"),
            '\r' => output.push_str("\\r"),
            c if is_plain_char(c) => output.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..0x100 => write!(output, "\\x{code:02x}"),
                    0x100..0x1_0000 => write!(output, "\\u{code:04x}"),
                    _ => write!(output, "\\U{code:08x}"),
                };
            }
        }
    }
    output.push('"');
    output
}
