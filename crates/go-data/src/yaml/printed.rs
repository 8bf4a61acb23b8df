//! The value of a string after kustomize has printed it. kustomize prints each object as YAML and reads it back before
//! it returns it, and its printer has bugs.

use std::{borrow::Cow, fmt::Write as _};

use libyaml_safer::ScalarStyle;

use super::{
    Dialect, Fault, Mark, Value,
    parse::{self, Content, Scalar},
    plain::{self, Resolved},
    stream,
};

pub fn text(scalar: &Scalar, in_flow: bool, mark: Mark) -> Result<Cow<'_, str>, Fault> {
    let Scalar { text, style, has_foot, .. } = scalar;
    if let Some(message) = fault(text) {
        return Err(Fault::new(mark, message, Some("remove it")));
    }
    let is_block = match style {
        ScalarStyle::Literal | ScalarStyle::Folded => true,
        ScalarStyle::Plain => text.contains('\n'),
        _ => false,
    };
    if !is_block || in_flow || !fits_block(text) {
        return Ok(text.into());
    }
    if text.starts_with('\t') {
        let message = "kustomize cannot read its own output for a block that begins with a tab";
        return Err(Fault::new(mark, message, Some("write it in double quotes, with `\\t`")));
    }
    if *has_foot {
        let message = "kustomize adds a line break to this block because of the comment at the end";
        return Err(Fault::new(mark, message, Some("move the comment")));
    }
    if *style == ScalarStyle::Folded { folded(text, mark).map(Cow::Owned) } else { Ok(text.into()) }
}

/// Why kustomize does not pass a string on unchanged: it writes JSON, and reads it as YAML.
pub fn fault(text: &str) -> Option<String> {
    let c = text.chars().find(|it| is_lost(*it))?;
    Some(format!("kustomize cannot print the character U+{:04X}", u32::from(c)))
}

fn is_lost(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// What kustomize prints for a string that it did not read from YAML. The line break U+0085 is one in JSON's quotes, too,
/// if they are read as YAML.
pub fn string(text: &str) -> Result<Cow<'_, str>, String> {
    const BREAK: char = '\u{85}';
    match text.chars().find(|it| is_lost(*it) && *it != BREAK) {
        Some(_) => return Err(fault(text).unwrap_or_default()),
        None if !text.contains(BREAK) => return Ok(text.into()),
        None => {}
    }
    let json = Value::from(text).to_string();
    let json = json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    let parts = parse::parse(&stream::Part { text: json.into(), line: 0 });
    let parts =
        parts.map_err(|it| format!("kustomize cannot read its own output: {}", it.message))?;
    match parts.into_iter().next().map(|it| it.content) {
        Some(Content::Scalar(it)) => Ok(it.text.into()),
        _ => Err("kustomize cannot read its own output".to_owned()),
    }
}

/// Why kustomize cannot print a key. YAML limits keys to one line of 1,024 characters, and Go escapes what is special in
/// HTML.
pub fn key_fault(text: &str) -> Option<String> {
    // No escape is longer than `\u003c`.
    if text.len() * "\\u003c".len() <= LONGEST_KEY {
        return fault(text);
    }
    let escaped = text.matches(['<', '>', '&', '\u{2028}', '\u{2029}']).count();
    let length = Value::from(text).to_string().chars().count() + escaped * "u003c".len();
    let message = || format!("kustomize cannot print a key of {} characters", text.chars().count());
    fault(text).or_else(|| (LONGEST_KEY < length).then(message))
}

/// Why kustomize cannot print a key that it adds to an object: it prints it without quotes, and reads its own output.
pub fn added_key_fault(text: &str) -> Option<String> {
    let is_string = matches!(plain::resolve(text, Dialect::Kustomize), Resolved::Text);
    let message = || {
        format!("kustomize prints the key `{text}` without quotes, as something else than a string")
    };
    key_fault(text).or_else(|| (!is_string || text == "<<").then(message))
}

const LONGEST_KEY: usize = 1024;

/// Whether the printer writes it as a block; otherwise it uses double quotes.
fn fits_block(text: &str) -> bool {
    let is_special = |c: char| {
        !matches!(c, '\n' | '\t' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
            || c == '\u{feff}'
    };
    !text.is_empty() && !text.ends_with(' ') && !text.contains(" \n") && !text.contains(is_special)
}

/// Writes a folded block as kustomize does, and reads it back. If the first line of the text has no indentation,
/// kustomize doubles every line break, also before more indented lines and at the end.
fn folded(text: &str, mark: Mark) -> Result<String, Fault> {
    let is_doubling = text.trim_start_matches('\n').starts_with(|c: char| !matches!(c, ' ' | '\t'));
    let hint = if text.starts_with([' ', '\n']) { "2" } else { "" };
    let chomping = match text.len() - text.trim_end_matches('\n').len() {
        0 => "-",
        1 if text.len() > 1 => "",
        _ => "+",
    };
    let mut lines = format!("a: >{hint}{chomping}\n");
    let (mut is_broken, mut is_indented) = (true, true);
    for c in text.chars() {
        if c == '\n' {
            if !is_broken && !is_indented && is_doubling {
                lines.push('\n');
            }
            lines.push('\n');
            is_broken = true;
            continue;
        }
        if is_broken {
            lines.push_str("  ");
            is_indented = matches!(c, ' ' | '\t');
        }
        let _ = lines.write_char(c);
        is_broken = false;
    }
    if !lines.ends_with('\n') {
        lines.push('\n');
    }
    let parts = parse::parse(&stream::Part { text: lines.into(), line: 0 }).map_err(|fault| {
        let message =
            format!("kustomize cannot read its own output for this string: {}", fault.message);
        Fault::new(mark, message, Some("write it in double quotes"))
    })?;
    match parts.into_iter().nth(2).map(|it| it.content) {
        Some(Content::Scalar(it)) => Ok(it.text),
        _ => Ok(text.to_owned()),
    }
}

/// Whether kustomize writes a text in quotes or as a block when it prints a value; `None` if that depends on its
/// printer.
pub fn is_written_in_quotes(text: &str) -> Option<bool> {
    let is_word = |it: &str| {
        it.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            && it.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
    };
    match plain::resolve(text, Dialect::Kustomize) {
        Resolved::Null if text.is_empty() => None,
        Resolved::Text if text.contains('\n') || plain::is_old_boolean(text) => Some(true),
        Resolved::Text => (is_word(text) && !plain::is_suspicious(text)).then_some(false),
        _ => Some(true),
    }
}
