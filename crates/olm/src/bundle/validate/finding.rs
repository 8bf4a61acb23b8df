//! A finding about a bundle: the rule, the location and the message.

use super::{Files, Rule};
use diagnostics::{Diagnostic, Severity};
use go_data::yaml::{self, Dialect, Mark};
use model::ProjectPath;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub severity: Severity,
    /// The file inside the bundle; a directory, or empty, where no file is concerned.
    pub file: String,
    /// The words of operator-framework's own validators, where they have the rule.
    pub message: String,
    pub rule: Rule,
    /// The field, as a JSON pointer; empty for the file as a whole.
    pub field: String,
    /// Line and column of the field, or of its nearest parent if the file lacks it.
    pub mark: Option<Mark>,
}

impl Finding {
    /// Formats the finding in one line, with the path of its file in this folder.
    pub fn line_in_folder(&self, folder: &str) -> String {
        let Self { message, .. } = self;
        if self.file.is_empty() {
            return format!("{folder}: {message}");
        }
        format!("{}: {message}", self.path_in(folder))
    }

    /// Returns the path of its file, or the folder.
    pub fn path_in(&self, folder: &str) -> String {
        if self.file.is_empty() { folder.to_owned() } else { format!("{folder}/{}", self.file) }
    }

    pub fn to_diagnostic(&self, folder: &str) -> Diagnostic {
        let mut diagnostic = Diagnostic::in_file(self.path_in(folder), self.message.as_str());
        diagnostic.code = Some(self.rule.id());
        diagnostic.position = self.mark.map(|mark| (mark.line, mark.column));
        let hint = self.rule.info().hint;
        if hint.is_empty() { diagnostic } else { diagnostic.with_hint(hint) }
    }
}

/// A file, and a field in it.
pub struct FieldLocation<'a> {
    file: &'a str,
    field: String,
}

impl<'a> From<&'a str> for FieldLocation<'a> {
    fn from(file: &'a str) -> Self {
        Self { file, field: String::new() }
    }
}

impl<'a, T: Into<String>> From<(&'a str, T)> for FieldLocation<'a> {
    fn from((file, field): (&'a str, T)) -> Self {
        Self { file, field: field.into() }
    }
}

/// The findings so far.
#[derive(Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    pub fn error<'a>(
        &mut self,
        rule: Rule,
        at: impl Into<FieldLocation<'a>>,
        message: impl Into<String>,
    ) {
        self.push(Severity::Error, rule, at.into(), message.into());
    }

    pub fn warning<'a>(
        &mut self,
        rule: Rule,
        at: impl Into<FieldLocation<'a>>,
        message: impl Into<String>,
    ) {
        self.push(Severity::Warning, rule, at.into(), message.into());
    }

    pub fn push(&mut self, severity: Severity, rule: Rule, at: FieldLocation, message: String) {
        let FieldLocation { file, field } = at;
        let file = file.to_owned();
        self.0.push(Finding { severity, file, message, rule, field, mark: None });
    }

    /// Returns the findings sorted and without duplicates, with lines and columns.
    pub fn into_located(mut self, files: &Files) -> Vec<Finding> {
        self.0.sort();
        self.0.dedup();
        let mut parsed: Option<(String, Option<yaml::Node>)> = None;
        for finding in self.0.iter_mut().filter(|finding| !finding.field.is_empty()) {
            if parsed.as_ref().is_none_or(|(file, _)| *file != finding.file) {
                parsed = Some((finding.file.clone(), parse_first_document(files, &finding.file)));
            }
            finding.mark = parsed
                .as_ref()
                .and_then(|document| document.1.as_ref())
                .map(|node| node.mark_at(&finding.field));
        }
        self.0
    }
}

/// Parses the first document of a file.
pub fn parse_first_document(files: &Files, file: &str) -> Option<yaml::Node> {
    let bytes = files.get(&file.parse::<ProjectPath>().ok()?)?;
    let text = std::str::from_utf8(bytes).ok()?;
    yaml::parse_nodes(text, Dialect::Kubernetes).ok()?.into_iter().next()
}
