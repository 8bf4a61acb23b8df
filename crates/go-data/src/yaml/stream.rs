//! Splits a stream into documents. Go's programs split the text before they parse it.

use std::borrow::Cow;

use super::{Dialect, Fault, Mark};

/// The text of one document.
pub struct Part<'a> {
    pub text: Cow<'a, str>,
    /// The number of lines of the stream before it.
    pub line: usize,
}

pub fn split(text: &str, dialect: Dialect) -> Result<Vec<Part<'_>>, Fault> {
    match dialect {
        Dialect::Kustomize => by_separators(text),
        Dialect::Kubernetes | Dialect::Strict => by_lines(text),
    }
}

/// As kyaml does: a separator has a line break on either side.
fn by_separators(text: &str) -> Result<Vec<Part<'_>>, Fault> {
    let text: Cow<'_, str> =
        if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    let mut res = Vec::new();
    let (mut start, mut line) = (0, 0);
    let mut at = 0;
    while let Some(found) = text[at..].find("\n---") {
        let found = at + found;
        let Some(end) = text[found + 1..].find('\n').map(|it| found + 1 + it) else { break };
        let before = line + text[start..=found].matches('\n').count();
        check(&text[found + 4..end], before)?;
        res.push(Part { text: text[start..=found].to_owned().into(), line });
        (start, at, line) = (end + 1, end + 1, before + 1);
    }
    res.push(Part { text: text[start..].to_owned().into(), line });
    Ok(res)
}

/// As apimachinery does: a separator is a line, and every line ends in a line break.
fn by_lines(text: &str) -> Result<Vec<Part<'_>>, Fault> {
    if !text.contains("\r\n") {
        return slices(text);
    }
    let lines: String = text.lines().flat_map(|it| [it, "\n"]).collect();
    let own = |it: Part<'_>| Part { text: it.text.into_owned().into(), line: it.line };
    Ok(slices(&lines)?.into_iter().map(own).collect())
}

fn slices(text: &str) -> Result<Vec<Part<'_>>, Fault> {
    let mut res = Vec::new();
    // Where the document begins, and how many lines are before it.
    let (mut start, mut before) = (0, 0);
    let mut end = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        // Most lines begin with another byte, so that this alone is looked at.
        if line.as_bytes()[0] == b'-'
            && let Some(rest) = line.strip_prefix("---")
        {
            check(rest, at)?;
            if start < end {
                res.push(Part { text: text[start..end].into(), line: before });
                (start, before) = (end + line.len(), at + 1);
            }
        }
        end += line.len();
    }
    let rest = &text[start..];
    let is_open = !rest.is_empty() && !rest.ends_with('\n');
    let rest = if is_open { format!("{rest}\n").into() } else { rest.into() };
    res.push(Part { text: rest, line: before });
    Ok(res)
}

/// Only a comment may follow a separator.
fn check(rest: &str, line: usize) -> Result<(), Fault> {
    let rest = rest.trim();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(());
    }
    Err(Fault::new(
        Mark { line: line + 1, column: 4 },
        format!("`{rest}` follows the separator `---`, which Kubernetes programs refuse"),
        Some("write it on a line of its own"),
    ))
}
