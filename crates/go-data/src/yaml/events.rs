//! The events of a text, from a port of libyaml; Go's YAML parsers are ports of it, too. A text is refused if this
//! parser would read it differently than they do, or could not continue.

use std::borrow::Cow;

use libyaml_safer::{Event, EventData, Parser, ScalarStyle};

use super::{Mark, YamlError, guard, stream};

pub struct Events<'t> {
    parser: Parser<&'t [u8]>,
    text: &'t str,
    lines: usize,
    /// A line break was added to the text: the parser panics at blocks that end without one.
    is_open: bool,
    /// The offset at which the last event ends.
    end: usize,
}

/// Returns the text in a form that the parser accepts, and whether a line break was added.
pub fn prepare_text<'a>(
    document: &'a stream::DocumentText<'_>,
) -> Result<(Cow<'a, str>, bool), YamlError> {
    check_characters(document)?;
    let text = document.text.strip_prefix('\u{feff}').unwrap_or(&document.text);
    if text.is_empty() || text.ends_with(['\n', '\r']) {
        return Ok((text.into(), false));
    }
    Ok((format!("{text}\n").into(), true))
}

impl<'t> Events<'t> {
    pub fn new(text: &'t str, is_open: bool, lines: usize) -> Self {
        let mut parser = Parser::new();
        parser.set_input(text.as_bytes());
        Self { parser, text, lines, is_open, end: 0 }
    }

    /// Returns the next event and its location.
    pub fn next(&mut self) -> Result<(EventData, Mark), YamlError> {
        // The parser panics at a comma that follows a tag. Any other text that makes it panic is refused, too.
        let Some(event) = guard::catch_panic(|| self.parser.parse()) else {
            let hint = Some("if a comma follows a tag, write a space between them");
            let line = self.text.get(..self.end).unwrap_or_default().matches('\n').count();
            let mark = Mark { line: self.lines + line + 1, column: 1 };
            return Err(YamlError::new(mark, "the YAML parser cannot continue from here", hint));
        };
        let Event { mut data, start_mark, end_mark, .. } = event.map_err(|error| {
            let message = match error.context() {
                Some(context) => format!("{} {context}", error.problem()),
                None => error.problem().to_owned(),
            };
            YamlError::new(self.to_mark(error.problem_mark().unwrap_or_default()), message, None)
        })?;
        let mark = self.to_mark(start_mark);
        let index = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
        let (start, end) = (index(start_mark.index), index(end_mark.index));
        self.end = end;
        if let EventData::DocumentStart { version_directive: Some(version), .. } = &data
            && (version.major, version.minor) != (1, 1)
        {
            let message = format!("`%YAML {}.{}` is not supported", version.major, version.minor);
            return Err(YamlError::new(mark, message, Some("remove the line")));
        }
        if let EventData::Scalar { value, style, .. } = &mut data {
            match style {
                ScalarStyle::DoubleQuoted => {
                    check_escapes(self.text.get(start..end).unwrap_or_default(), mark)?;
                }
                ScalarStyle::Literal | ScalarStyle::Folded
                    if self.is_open && end == self.text.len() =>
                {
                    remove_added_break(value, self.text.get(start..end).unwrap_or_default(), mark)?;
                }
                _ => {}
            }
        }
        Ok((data, mark))
    }

    /// Returns whether comments follow the last event, and nothing else.
    pub fn has_foot(&self) -> bool {
        let mut lines = self.text.get(self.end..).unwrap_or_default().lines().map(str::trim);
        let is_comment = |line: &str| line.starts_with('#');
        lines.clone().any(is_comment) && lines.all(|line| line.is_empty() || is_comment(line))
    }

    fn to_mark(&self, mark: libyaml_safer::Mark) -> Mark {
        let from_one = |number: u64| usize::try_from(number).unwrap_or(usize::MAX - 1) + 1;
        Mark { line: self.lines.saturating_add(from_one(mark.line)), column: from_one(mark.column) }
    }
}

fn check_characters(document: &stream::DocumentText<'_>) -> Result<(), YamlError> {
    let mut before = '\n';
    for (at, c) in document.text.char_indices() {
        let is_allowed = matches!(
            c,
            '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..
        );
        let is_line_start =
            at > 0 && matches!(before, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
        if !is_allowed || c == '\u{feff}' && is_line_start {
            let text = &document.text[..at];
            let line = document.line + text.matches('\n').count() + 1;
            let column = text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let place = if is_allowed { "here" } else { "in YAML" };
            let message = format!("the character U+{:04X} is not allowed {place}", u32::from(c));
            let hint = Some("remove it, or write it as an escape in double quotes");
            return Err(YamlError::new(Mark { line, column }, message, hint));
        }
        before = c;
    }
    Ok(())
}

/// Refuses the escape `\/`, which this parser supports but Go's do not.
fn check_escapes(quoted: &str, mark: Mark) -> Result<(), YamlError> {
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next() == Some('/') {
            return Err(YamlError::new(
                mark,
                "Go's YAML parsers do not support the escape `\\/`",
                Some("write `/`"),
            ));
        }
    }
    Ok(())
}

/// Removes the line break that was added to the text from the block at its end.
fn remove_added_break(value: &mut String, block: &str, mark: Mark) -> Result<(), YamlError> {
    let mut lines = block.lines();
    let head = lines.next().unwrap_or_default();
    let head = head.split('#').next().unwrap_or_default();
    let last = block.lines().next_back().unwrap_or_default();
    let indents = lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len());
    let is_blank = last.trim_matches(' ').is_empty();
    // A blank line belongs to the text if it is longer than the indentation.
    if last.trim().is_empty()
        && !(is_blank
            && indents.min().is_some_and(|indent| last.len() <= indent)
            && !head.contains(|c: char| c.is_ascii_digit()))
    {
        let message = "the last line of this block is blank and has no line break";
        return Err(YamlError::new(mark, message, Some("end the text with a line break")));
    }
    if value.ends_with('\n') && (!is_blank || head.contains('+')) {
        value.pop();
    }
    Ok(())
}
