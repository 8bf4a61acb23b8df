//! What is wrong with a bundle: the rule, the place, the words.

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
    /// The finding in one line, with its file in this folder.
    pub fn within(&self, folder: &str) -> String {
        let Self { message, .. } = self;
        if self.file.is_empty() {
            return format!("{folder}: {message}");
        }
        format!("{}: {message}", self.path(folder))
    }

    /// Its file, or the folder.
    pub fn path(&self, folder: &str) -> String {
        if self.file.is_empty() { folder.to_owned() } else { format!("{folder}/{}", self.file) }
    }

    pub fn diagnostic(&self, folder: &str) -> Diagnostic {
        let mut res = Diagnostic::in_file(self.path(folder), self.message.as_str());
        res.code = Some(self.rule.id());
        res.position = self.mark.map(|it| (it.line, it.column));
        let hint = self.rule.about().hint;
        if hint.is_empty() { res } else { res.with_hint(hint) }
    }
}

/// A file, and a field in it.
pub struct Place<'a> {
    file: &'a str,
    field: String,
}

impl<'a> From<&'a str> for Place<'a> {
    fn from(file: &'a str) -> Self {
        Self { file, field: String::new() }
    }
}

impl<'a, T: Into<String>> From<(&'a str, T)> for Place<'a> {
    fn from((file, field): (&'a str, T)) -> Self {
        Self { file, field: field.into() }
    }
}

/// What has been found so far.
#[derive(Default)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    pub fn error<'a>(&mut self, rule: Rule, at: impl Into<Place<'a>>, message: impl Into<String>) {
        self.push(Severity::Error, rule, at.into(), message.into());
    }

    pub fn warning<'a>(
        &mut self,
        rule: Rule,
        at: impl Into<Place<'a>>,
        message: impl Into<String>,
    ) {
        self.push(Severity::Warning, rule, at.into(), message.into());
    }

    pub fn push(&mut self, severity: Severity, rule: Rule, at: Place, message: String) {
        let Place { file, field } = at;
        let file = file.to_owned();
        self.0.push(Finding { severity, file, message, rule, field, mark: None });
    }

    /// Sorted, each one once, with their lines and columns.
    pub fn located(mut self, files: &Files) -> Vec<Finding> {
        self.0.sort();
        self.0.dedup();
        let mut parsed: Option<(String, Option<yaml::Node>)> = None;
        for it in self.0.iter_mut().filter(|it| !it.field.is_empty()) {
            if parsed.as_ref().is_none_or(|(file, _)| *file != it.file) {
                parsed = Some((it.file.clone(), node(files, &it.file)));
            }
            it.mark =
                parsed.as_ref().and_then(|it| it.1.as_ref()).map(|node| node.mark_at(&it.field));
        }
        self.0
    }
}

/// The first document of a file.
pub fn node(files: &Files, file: &str) -> Option<yaml::Node> {
    let bytes = files.get(&file.parse::<ProjectPath>().ok()?)?;
    let text = std::str::from_utf8(bytes).ok()?;
    yaml::nodes(text, Dialect::Kubernetes).ok()?.into_iter().next()
}
