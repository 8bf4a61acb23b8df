//! Places in files, and problems at them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use diagnostics::{Diagnostic, Lines};
use serde_json::Value;

use super::SourcePath;

/// A place in a file: line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub path: SourcePath,
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The first character of a file.
    pub fn start(path: SourcePath) -> Self {
        Self { path, line: 1, column: 1 }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, line, column } = self;
        write!(f, "{path}:{line}:{column}")
    }
}

/// Places of fields, by the names that lead to each.
pub type FieldPlaces = BTreeMap<Vec<String>, Place>;

/// The names of the types of fields, by the same paths.
pub type FieldTypes = BTreeMap<Vec<String>, String>;

/// Fields, by the same paths.
pub type FieldNames = BTreeSet<Vec<String>>;

/// Types of fields that do not read every value, by the same paths.
pub type Unreadable = BTreeMap<Vec<String>, UnreadValues>;

/// Values that a type cannot read.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreadValues {
    /// The path of the type, such as `kube_core::Duration`.
    pub type_path: &'static str,
    pub values: Vec<Value>,
}

/// A fault in the user's input: where, why, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub place: Place,
    pub message: String,
    /// The path in a custom resource: the kind, the path of the field (`spec.size`), the type that cannot be
    /// read. As much of these as applies, so empty where no kind is concerned.
    pub field_path: Vec<String>,
    /// A hint on how to fix it.
    pub hint: Option<String>,
    /// The line of the file, as it was read; none where that is not known.
    pub source_line: Option<Arc<str>>,
    /// True if the compiler refuses the code, too, so that compiling it cannot help.
    pub does_not_compile: bool,
    /// The rule that found it, if it is a warning: a comment can accept it by this name.
    pub rule: Option<&'static str>,
    /// True if a comment where it stands accepts it.
    pub is_accepted: bool,
    /// True for a warning that needs no action, so that it is shown as a note.
    pub is_note: bool,
}

impl Problem {
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
            field_path: Vec::new(),
            hint: None,
            source_line: None,
            does_not_compile: false,
            rule: None,
            is_accepted: false,
            is_note: false,
        }
    }

    /// Names the rule of a warning, see [`Lines::is_accepted`].
    pub fn with_rule(self, rule: &'static str) -> Self {
        Self { rule: Some(rule), ..self }
    }

    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same problem with its line of the text that was read, and with whether a comment there accepts it.
    pub fn quote(self, lines: &mut Lines<'_>) -> Self {
        let line = self.place.line;
        let is_accepted = self.rule.is_some_and(|rule| lines.is_accepted(rule, line));
        Self { source_line: lines.get(line), is_accepted, ..self }
    }

    /// The problem over several lines, each behind `indent`: the field path and the hint below the message.
    pub fn describe(&self, indent: &str) -> String {
        let Self { place, message, field_path, hint, .. } = self;
        let mut text = format!("{indent}{place}: {message}");
        if field_path.len() > 1 {
            text += &format!("\n{indent}  {}", field_path.join(" → "));
        }
        if let Some(hint) = hint {
            text += &format!("\n{indent}  hint: {hint}");
        }
        text
    }
}

/// In one line, without the hint.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { place, message, field_path, .. } = self;
        write!(f, "{place}: {message}")?;
        match &field_path[..] {
            [kind, fields, ..] if !fields.is_empty() => write!(f, " (`{kind}` → `{fields}`)"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Problem {}

impl From<Problem> for Diagnostic {
    fn from(it: Problem) -> Self {
        Self {
            message: it.message,
            code: it.rule,
            is_accepted: it.is_accepted,
            is_note: it.is_note,
            file: Some(it.place.path.to_string()),
            position: Some((it.place.line, it.place.column)),
            source_line: it.source_line,
            field_paths: Some(it.field_path).into_iter().filter(|path| !path.is_empty()).collect(),
            hints: it.hint.into_iter().collect(),
            ..Self::default()
        }
    }
}
