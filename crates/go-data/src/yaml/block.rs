//! Finds the lines of a text that belong to a field or to an item of a list in block style. The result is a guess: the
//! caller parses its result again, and compares the data.

use std::ops::Range;

use super::{Data, Entry, Mark, Node, Value};

/// The form in which an empty list can be extended.
const EMPTY: [&str; 3] = ["[]", "null", "~"];

/// Returns the byte offset of a mark in a text.
pub fn byte_offset(text: &str, mark: Mark) -> Option<usize> {
    let start: usize =
        text.split_inclusive('\n').take(mark.line.checked_sub(1)?).map(str::len).sum();
    let line = text.get(start..)?.split_inclusive('\n').next()?;
    line.char_indices().nth(mark.column.checked_sub(1)?).map(|character| start + character.0)
}

/// Returns the indentation of an item's dash, if only blanks precede it.
fn dash_indent(line: &str, mark: Mark) -> Option<usize> {
    let before: String = line.chars().take(mark.column.checked_sub(1)?).collect();
    let before = before.trim_end().strip_suffix('-')?;
    before.chars().all(|character| character == ' ').then_some(before.len())
}

/// Returns the range of lines of a list item, from 0, in the lines of a text. Comments and blank lines in front of the
/// next item are not among them.
pub fn lines_of_item(lines: &[&str], item: &Node) -> Option<(usize, usize)> {
    let line = lines.get(item.mark.line.checked_sub(1)?)?;
    Some(lines_of(lines, item.mark, dash_indent(line, item.mark)?))
}

/// Returns the range of lines of a field of a mapping, from 0, like [`lines_of_item`].
pub fn lines_of_field(text: &str, field: &Entry) -> (usize, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let (from, to) = lines_of(&lines, field.mark, field.mark.column - 1);
    // The dashes of a list may be below the field's name.
    match &field.value.data {
        Data::List(all) => {
            let last = all.last().and_then(|item| lines_of_item(&lines, item));
            (from, last.map_or(to, |range| range.1.max(to)))
        }
        _ => (from, to),
    }
}

fn lines_of(lines: &[&str], mark: Mark, indent: usize) -> (usize, usize) {
    let from = mark.line - 1;
    let is_inside = |line: &str| indent_of(line) > indent;
    let is_next = |line: &&str| !is_blank(line) && !is_comment(line) && !is_inside(line);
    let rest = &lines[from + 1..];
    let mut to = from + 1 + rest.iter().position(is_next).unwrap_or(rest.len());
    while to > from + 1 {
        let line = lines[to - 1];
        if !(is_blank(line) || is_comment(line) && indent_of(line) <= indent) {
            break;
        }
        to -= 1;
    }
    (from, to)
}

/// Returns whether the lines of a value, a range of all lines, have a comment apart from the first line of a scalar.
pub fn has_comment(lines: &[&str], (from, to): (usize, usize), value: &Node) -> Option<bool> {
    let is_scalar = matches!(value.data, Data::Scalar(_));
    let first = lines.get(value.mark.line.checked_sub(1)?)?;
    let start = first.chars().nth(value.mark.column.checked_sub(1)?);
    let is_block = is_scalar && matches!(start, Some('|' | '>'));
    let mut lines = lines.iter().copied().take(to).skip(from + usize::from(is_scalar));
    // In the text of a block scalar, `#` begins no comment.
    let indent = lines.clone().find(|line| !is_blank(line)).map_or(0, indent_of);
    Some(lines.any(|line| {
        if is_block {
            is_comment(line) && indent_of(line) < indent
        } else {
            is_comment(line) || comment_start(line).is_some()
        }
    }))
}

/// Returns the offset of a comment behind a plain scalar.
pub fn comment_start(line: &str) -> Option<usize> {
    line.find(" #").into_iter().chain(line.find("\t#")).min()
}

/// Returns the text with more items in the list of a field: in front of a line, or after the last item. `items` is
/// their text without indentation. Returns `None` if the field has no list in block style.
pub fn with_items(text: &str, list: &Entry, items: &str, line: Option<usize>) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = list.mark.line.checked_sub(1)?;
    let (indent, end) = match &list.value.data {
        Data::List(all) if !all.is_empty() => {
            let first = lines.get(all[0].mark.line.checked_sub(1)?)?;
            (dash_indent(first, all[0].mark)?, lines_of_item(&lines, all.last()?)?.1)
        }
        Data::List(_) | Data::Scalar(Value::Null) => (list.mark.column.checked_sub(1)?, head + 1),
        _ => return None,
    };
    let mut output = text.to_owned();
    if list.value.mark.line == list.mark.line {
        // An empty list that is written out: `[]` or `null`.
        let start = byte_offset(text, list.value.mark)?;
        if let Some(value) = EMPTY.iter().find(|spelling| text[start..].starts_with(**spelling)) {
            let blanks = text[..start].trim_end_matches(' ').len();
            output.replace_range(blanks..start + value.len(), "");
        }
    }
    let at = line.unwrap_or(end);
    (at <= lines.len()).then(|| replace_lines(&output, at..at, &indent_lines(indent, items)))
}

/// Returns the text without these lines.
pub fn without_lines(text: &str, (from, to): (usize, usize)) -> String {
    replace_lines(text, from..to, "")
}

/// Replaces a range of lines with `new`, with the line endings of the text.
pub(super) fn replace_lines(text: &str, at: Range<usize>, new: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let before = lines[..at.start].concat();
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { newline };
    format!("{before}{gap}{}{}", new.replace('\n', newline), lines[at.end..].concat())
}

pub(super) fn indent_lines(by: usize, text: &str) -> String {
    text.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}
