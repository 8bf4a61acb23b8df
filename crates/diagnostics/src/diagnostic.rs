//! A diagnostic says what is wrong with the user's input, or should be known about it. It is a value: `terminal` prints
//! it.

use crate::acceptance::accepted_rules;
use std::{collections::BTreeMap, error::Error, fmt, sync::Arc};

/// A message, with its location and hints where these are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostic {
    pub message: String,
    /// The id of the rule that found it.
    pub code: Option<&'static str>,
    pub file: Option<String>,
    /// Line and column, counted from 1.
    pub position: Option<(usize, usize)>,
    /// The line as it was read; none where it is not known.
    pub source_line: Option<Arc<str>>,
    /// The fields of custom resources that are concerned: the kind, the path of the field, the type.
    pub field_paths: Vec<Vec<String>>,
    pub hints: Vec<String>,
    /// The text in a list for people, if it is not the file and the message.
    pub listed: Option<String>,
    /// Among warnings: no action is needed, so that it is shown as a note.
    pub is_note: bool,
    /// Among warnings: a comment at its location accepts it.
    pub is_accepted: bool,
}

impl Diagnostic {
    /// Returns a diagnostic about a file as a whole.
    pub fn in_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { message: message.into(), file: Some(file.into()), ..Self::default() }
    }

    pub fn at_position(self, line: usize, column: usize) -> Self {
        Self { position: Some((line, column)), ..self }
    }

    /// Sets the position to that of a byte of the file's text.
    pub fn at_byte(self, text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or_default();
        let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
        self.at_position(before.matches('\n').count() + 1, column)
    }

    /// Adds the source line that it is about, and finds out whether a comment there accepts it.
    pub fn quote(self, lines: &mut Lines<'_>) -> Self {
        let Some((line, _)) = self.position else { return self };
        let is_accepted = self.code.is_some_and(|rule| lines.is_accepted(rule, line));
        Self { source_line: lines.get(line), is_accepted, ..self }
    }

    /// Names the rule that found it. A comment can accept a warning by this name, see [`Lines::is_accepted`].
    pub fn with_code(self, rule: &'static str) -> Self {
        Self { code: Some(rule), ..self }
    }

    /// Marks a warning that needs no action.
    pub fn into_note(self) -> Self {
        Self { is_note: true, ..self }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Converts it into the error of a command.
    pub fn into_error(self) -> anyhow::Error {
        Diagnostics { headline: String::new(), list: vec![self] }.into()
    }

    /// Formats the paths of the concerned fields of which more than the kind is known.
    pub fn format_fields(&self) -> impl Iterator<Item = String> {
        self.field_paths.iter().filter(|path| path.len() > 1).map(|path| path.join(" → "))
    }
}

/// The lines of a text, which is gone through once, however many diagnostics quote it.
pub struct Lines<'a> {
    all: Vec<&'a str>,
    /// The lines that were quoted; diagnostics share them.
    quoted: BTreeMap<usize, Arc<str>>,
    /// The rules that comments accept at a line: a very long line may have any number of warnings.
    accepted: BTreeMap<usize, Vec<&'a str>>,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { all: text.lines().collect(), quoted: BTreeMap::new(), accepted: BTreeMap::new() }
    }

    /// Returns whether a comment accepts the warnings of a rule about a line, counted from 1. The comment is at the end
    /// of the line, or among the comments and attributes directly above it, up to 100 lines.
    pub fn is_accepted(&mut self, rule: &str, line: usize) -> bool {
        let accepted = self.accepted.entry(line).or_insert_with(|| accepted_rules(line, &self.all));
        accepted.contains(&rule)
    }

    /// Returns a line by its number, counted from 1.
    pub fn get(&mut self, number: usize) -> Option<Arc<str>> {
        let line = self.all.get(number.checked_sub(1)?)?;
        Some(Arc::clone(self.quoted.entry(number).or_insert_with(|| Arc::from(*line))))
    }
}

impl From<&str> for Diagnostic {
    fn from(message: &str) -> Self {
        Self { message: message.to_owned(), ..Self::default() }
    }
}

impl From<&String> for Diagnostic {
    fn from(message: &String) -> Self {
        message.as_str().into()
    }
}

impl From<String> for Diagnostic {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

/// Writes it in one line, without hints.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(listed) = &self.listed {
            return f.write_str(listed);
        }
        if let Some(file) = &self.file {
            write!(f, "{file}")?;
            if let Some((line, column)) = self.position {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        write!(f, "{}", self.message)?;
        match &self.field_paths[..] {
            [only] if matches!(&only[..], [_, fields, ..] if !fields.is_empty()) => {
                write!(f, " (`{}` → `{}`)", only[0], only[1])
            }
            _ => Ok(()),
        }
    }
}

/// Everything that is wrong, as one error.
#[derive(Debug)]
pub struct Diagnostics {
    /// The consequence of all diagnostics; may be empty.
    pub headline: String,
    pub list: Vec<Diagnostic>,
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.list.iter().map(ToString::to_string);
        if self.headline.is_empty() {
            return f.write_str(&lines.collect::<Vec<_>>().join("\n"));
        }
        let lines: String = lines.map(|line| format!("\n  {line}")).collect();
        write!(f, "{}:{lines}", self.headline)
    }
}

impl Error for Diagnostics {}

#[test]
fn diagnostics_of_one_line_share_its_text() {
    let mut lines = Lines::new("a\r\nb\n");
    let mut quote =
        |line| Diagnostic::in_file("x", "y").at_position(line, 1).quote(&mut lines).source_line;
    let (one, other) = (quote(2), quote(2));
    assert!(
        one.as_deref() == Some("b")
            && one.zip(other).is_some_and(|(one, other)| Arc::ptr_eq(&one, &other))
    );
    assert_eq!((quote(1).as_deref(), quote(0), quote(3)), (Some("a"), None, None));
}
