//! Computes the value of a string after kustomize has printed it. kustomize prints each object as YAML and reads it
//! back before it returns it, and its printer has bugs.

use std::{borrow::Cow, fmt::Write as _};

use libyaml_safer::ScalarStyle;

use super::{
    Dialect, Mark, Value, YamlError,
    parse::{self, Content, Scalar},
    plain::{self, Resolved},
    stream,
};

pub fn printed_text(scalar: &Scalar, in_flow: bool, mark: Mark) -> Result<Cow<'_, str>, YamlError> {
    let Scalar { text, style, has_foot, .. } = scalar;
    if let Some(message) = find_printing_error(text) {
        return Err(YamlError::new(mark, message, Some("remove it")));
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
        return Err(YamlError::new(mark, message, Some("write it in double quotes, with `\\t`")));
    }
    if *has_foot {
        let message = "kustomize adds a line break to this block because of the comment at the end";
        return Err(YamlError::new(mark, message, Some("move the comment")));
    }
    if *style == ScalarStyle::Folded {
        print_folded(text, mark).map(Cow::Owned)
    } else {
        Ok(text.into())
    }
}

/// Returns why kustomize does not pass a string on unchanged: it writes JSON, and reads it as YAML.
pub fn find_printing_error(text: &str) -> Option<String> {
    let c = text.chars().find(|c| is_lost(*c))?;
    Some(format!("kustomize cannot print the character U+{:04X}", u32::from(c)))
}

fn is_lost(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns what kustomize prints for a string that it did not read from YAML. The line break U+0085 is one in JSON's
/// quotes, too, if they are read as YAML.
pub fn printed_string(text: &str) -> Result<Cow<'_, str>, String> {
    const BREAK: char = '\u{85}';
    match text.chars().find(|c| is_lost(*c) && *c != BREAK) {
        Some(_) => return Err(find_printing_error(text).unwrap_or_default()),
        None if !text.contains(BREAK) => return Ok(text.into()),
        None => {}
    }
    let json = Value::from(text).to_string();
    let json = json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    let parts = parse::parse_document(&stream::DocumentText { text: json.into(), line: 0 });
    let parts = parts
        .map_err(|error| format!("kustomize cannot read its own output: {}", error.message))?;
    match parts.into_iter().next().map(|part| part.content) {
        Some(Content::Scalar(scalar)) => Ok(scalar.text.into()),
        _ => Err("kustomize cannot read its own output".to_owned()),
    }
}

/// Returns why kustomize cannot print a key. YAML limits keys to one line of 1,024 characters, and Go escapes what is
/// special in HTML.
pub fn find_key_error(text: &str) -> Option<String> {
    // No escape is longer than `\u003c`.
    if text.len() * "\\u003c".len() <= LONGEST_KEY {
        return find_printing_error(text);
    }
    let escaped = text.matches(['<', '>', '&', '\u{2028}', '\u{2029}']).count();
    let length = Value::from(text).to_string().chars().count() + escaped * "u003c".len();
    let message = || format!("kustomize cannot print a key of {} characters", text.chars().count());
    find_printing_error(text).or_else(|| (length > LONGEST_KEY).then(message))
}

/// Returns why kustomize cannot print a key that it adds to an object: it prints the key without quotes, and reads its
/// own output.
pub fn find_added_key_error(text: &str) -> Option<String> {
    let is_string = matches!(plain::resolve_plain(text, Dialect::Kustomize), Resolved::Text);
    let message = || {
        format!("kustomize prints the key `{text}` without quotes, as something else than a string")
    };
    find_key_error(text).or_else(|| (!is_string || text == "<<").then(message))
}

const LONGEST_KEY: usize = 1024;

/// Returns whether the printer writes a text as a block; otherwise it uses double quotes.
fn fits_block(text: &str) -> bool {
    let is_special = |c: char| {
        !matches!(c, '\n' | '\t' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
            || c == '\u{feff}'
    };
    !text.is_empty() && !text.ends_with(' ') && !text.contains(" \n") && !text.contains(is_special)
}

/// Writes a folded block as kustomize does, and reads it back. If the first line of the text has no indentation,
/// kustomize doubles every line break, also before more indented lines and at the end.
fn print_folded(text: &str, mark: Mark) -> Result<String, YamlError> {
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
    let parts = parse::parse_document(&stream::DocumentText { text: lines.into(), line: 0 })
        .map_err(|error| {
            let message =
                format!("kustomize cannot read its own output for this string: {}", error.message);
            YamlError::new(mark, message, Some("write it in double quotes"))
        })?;
    match parts.into_iter().nth(2).map(|part| part.content) {
        Some(Content::Scalar(scalar)) => Ok(scalar.text),
        _ => Ok(text.to_owned()),
    }
}

/// Returns whether kustomize writes a text in quotes or as a block when it prints a value; `None` if that depends on
/// its printer.
pub fn is_written_in_quotes(text: &str) -> Option<bool> {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
    };
    match plain::resolve_plain(text, Dialect::Kustomize) {
        Resolved::Null if text.is_empty() => None,
        Resolved::Text if text.contains('\n') || plain::is_old_boolean(text) => Some(true),
        Resolved::Text => (is_word(text) && !plain::is_suspicious(text)).then_some(false),
        _ => Some(true),
    }
}
