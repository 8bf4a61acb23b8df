//! Splits a stream into documents. Go's programs split the text before they parse it.

use std::borrow::Cow;

use super::{Dialect, Mark, YamlError};

/// The text of one document.
pub struct DocumentText<'a> {
    pub text: Cow<'a, str>,
    /// The number of lines of the stream before it.
    pub line: usize,
}

pub fn split_documents(text: &str, dialect: Dialect) -> Result<Vec<DocumentText<'_>>, YamlError> {
    match dialect {
        Dialect::Kustomize => split_at_separators(text),
        Dialect::Kubernetes | Dialect::Strict => split_at_lines(text),
    }
}

/// Splits a stream as kyaml does: a separator has a line break on either side.
fn split_at_separators(text: &str) -> Result<Vec<DocumentText<'_>>, YamlError> {
    let text: Cow<'_, str> =
        if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() };
    let mut documents = Vec::new();
    let (mut start, mut line) = (0, 0);
    let mut at = 0;
    while let Some(separator) = text[at..].find("\n---") {
        let separator = at + separator;
        let Some(end) = text[separator + 1..].find('\n').map(|length| separator + 1 + length)
        else {
            break;
        };
        let before = line + text[start..=separator].matches('\n').count();
        check_separator(&text[separator + 4..end], before)?;
        documents.push(DocumentText { text: text[start..=separator].to_owned().into(), line });
        (start, at, line) = (end + 1, end + 1, before + 1);
    }
    documents.push(DocumentText { text: text[start..].to_owned().into(), line });
    Ok(documents)
}

/// Splits a stream as apimachinery does: a separator is a line, and every line ends in a line break.
fn split_at_lines(text: &str) -> Result<Vec<DocumentText<'_>>, YamlError> {
    if !text.contains("\r\n") {
        return slice_documents(text);
    }
    let lines: String = text.lines().flat_map(|line| [line, "\n"]).collect();
    let into_owned = |document: DocumentText<'_>| DocumentText {
        text: document.text.into_owned().into(),
        line: document.line,
    };
    Ok(slice_documents(&lines)?.into_iter().map(into_owned).collect())
}

fn slice_documents(text: &str) -> Result<Vec<DocumentText<'_>>, YamlError> {
    let mut documents = Vec::new();
    // The offset at which the document begins, and the number of lines before it.
    let (mut start, mut before) = (0, 0);
    let mut end = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        // Most lines begin with another byte, so only this byte is compared.
        if line.as_bytes()[0] == b'-'
            && let Some(rest) = line.strip_prefix("---")
        {
            check_separator(rest, at)?;
            if start < end {
                documents.push(DocumentText { text: text[start..end].into(), line: before });
                (start, before) = (end + line.len(), at + 1);
            }
        }
        end += line.len();
    }
    let rest = &text[start..];
    let is_open = !rest.is_empty() && !rest.ends_with('\n');
    let rest = if is_open { format!("{rest}\n").into() } else { rest.into() };
    documents.push(DocumentText { text: rest, line: before });
    Ok(documents)
}

/// Refuses anything but a comment behind a separator.
fn check_separator(rest: &str, line: usize) -> Result<(), YamlError> {
    let rest = rest.trim();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(());
    }
    Err(YamlError::new(
        Mark { line: line + 1, column: 4 },
        format!("`{rest}` follows the separator `---`, which Kubernetes programs refuse"),
        Some("write it on a line of its own"),
    ))
}
