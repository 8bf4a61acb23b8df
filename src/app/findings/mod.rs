//! Findings of rules, and how each format shows them. What a report says besides, it adds by itself.

mod sarif;

use std::fmt;

use crate::terminal::{self, Look, Text, table};
use diagnostics::{About, Diagnostic, Severity};
use go_data::yaml::Value;
pub use sarif::sarif;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// Every finding, for programs
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

/// A finding of any rule.
pub struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    /// What it is about, such as a Deployment or a field; empty if its place says it.
    pub subject: String,
    /// The beginning of the subject that findings have in common, such as a CRD.
    pub object: String,
    pub what: String,
    /// The old and the new value, if they are all that `what` tells.
    pub values: Option<[String; 2]>,
    /// What to do about it; empty if there is nothing to do.
    pub remedy: String,
    /// Where to show it.
    pub place: Option<Place>,
    /// Where the old state has it, if it was removed.
    pub before: Option<Place>,
    /// What stays the same from one run to the next, and the name of this way to identify findings.
    pub fingerprint: (&'static str, String),
}

/// A place in a file, on disk or at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: String,
    /// From 1; 0 is the whole file.
    pub line: usize,
    pub column: usize,
    pub revision: Option<String>,
}

/// How many findings are listed for people; formats for programs have all of them.
pub const MOST: usize = 200;

impl Finding {
    /// What shows a finding best: the place where it was before, if it was removed.
    pub fn declaration(&self) -> Option<&Place> {
        self.before.as_ref().or(self.place.as_ref())
    }

    /// As a paragraph, as files and pipes get it.
    fn paragraph(&self) -> Text {
        let place = self.declaration().map(|it| format!("{it}: ")).unwrap_or_default();
        let remedy = match self.remedy.as_str() {
            "" => String::new(),
            remedy => format!("  hint: {}\n", shortened(remedy)),
        };
        let (what, severity) = (shortened(&self.what), self.severity.name());
        format!("{place}{severity}[{}]: {what}\n  {}\n{remedy}\n", self.rule, self.subject).into()
    }

    /// As a row of the table of its object.
    fn row(&self) -> [Text; 3] {
        let severity = format!("  {}[{}]", self.severity.name(), self.rule);
        let part = self.subject.strip_prefix(&self.object).unwrap_or_default().trim();
        let what = match &self.values {
            Some([old, new]) => format!("{} → {}", shortened(old), shortened(new)),
            None => shortened(&self.what),
        };
        [Text::new(self.severity.into(), severity), part.into(), what.into()]
    }

    /// What stands below its row.
    fn details(&self) -> Text {
        let mut res = Text::default();
        if let Some(place) = self.declaration() {
            res.add(Look::Aside, format!("    {place}\n"));
        }
        if !self.remedy.is_empty() {
            res.add(Look::Note, "    hint");
            res.add(Look::Plain, format!(": {}\n", shortened(&self.remedy)));
        }
        res
    }

    /// As a message, for `--message-format`.
    pub fn diagnostic(&self) -> Diagnostic {
        let message = format!("{}: {}", self.subject, self.what);
        let mut res = match &self.place {
            Some(it) if it.line == 0 => Diagnostic::in_file(&it.path, message),
            Some(it) => Diagnostic::in_file(&it.path, message).at(it.line, it.column),
            None => Diagnostic::from(message),
        };
        res.code = Some(self.rule);
        res.hints.extend(Some(self.remedy.clone()).filter(|it| !it.is_empty()));
        res
    }

    fn annotation(&self) -> String {
        let mut properties = Vec::new();
        if let Some(place) = &self.place {
            properties.push(("file", place.path.clone()));
            if 0 < place.line {
                properties.push(("line", place.line.to_string()));
                properties.push(("col", place.column.to_string()));
            }
        }
        let subject = Some(&self.subject).filter(|it| !it.is_empty());
        let subject = subject.map(|it| format!(": {it}")).unwrap_or_default();
        properties.push(("title", format!("{}{subject}", self.rule)));
        let mut message = self.what.clone();
        message.extend(self.before.as_ref().map(|it| format!("\nit was at {it}")));
        if !self.remedy.is_empty() {
            message += &format!("\nhint: {}", self.remedy);
        }
        terminal::github(self.severity, &properties, &message)
    }
}

impl Place {
    pub fn new(path: impl Into<String>, line: usize, column: usize) -> Self {
        Self { path: path.into(), line, column, revision: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, revision } = self;
        write!(f, "{path}")?;
        if 0 < *line {
            write!(f, ":{line}:{column}")?;
        }
        revision.as_ref().map_or(Ok(()), |it| write!(f, " at {it}"))
    }
}

/// The annotations of the first findings, and how many more there are.
pub fn annotations(all: &[&Finding]) -> String {
    let mut res: String = all.iter().take(MOST).map(|it| it.annotation()).collect();
    if let more @ 1.. = all.len().saturating_sub(MOST) {
        let text = format!("and {more} more findings; `--output json` lists them");
        res += &terminal::github(Severity::Note, &[], &text);
    }
    res
}

/// The first findings for people, and how many more there are: on a terminal a table for each object.
pub fn text(all: &[&Finding]) -> Text {
    let shown = &all[..all.len().min(MOST)];
    let mut res = match terminal::is_screen() {
        true => tables(shown),
        false => shown.iter().map(|it| it.paragraph()).collect(),
    };
    if let more @ 1.. = all.len() - shown.len() {
        let text = format!("and {more} more findings; `--output json` lists them");
        res.add(Look::Plain, text + "\n\n");
    }
    res
}

/// The objects in the order of their first findings.
fn tables(findings: &[&Finding]) -> Text {
    let mut res = Text::default();
    let mut objects: Vec<&str> = Vec::new();
    for it in findings.iter().filter(|it| !it.object.is_empty()) {
        if !objects.contains(&it.object.as_str()) {
            objects.push(&it.object);
        }
    }
    for object in objects {
        let of_object: Vec<_> = findings.iter().filter(|it| it.object == object).collect();
        let rows: Vec<[Text; 3]> = of_object.iter().map(|it| it.row()).collect();
        res.add(Look::Heading, format!("{object}\n"));
        for (row, it) in table(&rows).into_iter().zip(of_object) {
            res += row;
            res += it.details();
        }
        res.add(Look::Plain, "\n");
    }
    res
}

/// Prints a report. Where stdout has text, programs read its findings as messages.
pub fn print(
    format: Format,
    shown: &[&Finding],
    rules: &[&About],
    text: impl FnOnce() -> Text,
    json: impl FnOnce() -> Value,
) {
    match format {
        Format::Text => {
            shown.iter().for_each(|it| terminal::finding(it.severity, &it.diagnostic()));
            terminal::show(&text());
        }
        Format::Json => terminal::data(&format!("{:#}\n", json())),
        Format::Sarif => terminal::data(&format!("{:#}\n", sarif(rules, shown))),
        Format::Github => terminal::data(&annotations(shown)),
    }
}

/// Rules as values of a flag.
pub fn values<'a>(
    rules: impl Iterator<Item = &'a About>,
) -> impl Iterator<Item = clap::builder::PossibleValue> {
    rules.map(|it| clap::builder::PossibleValue::new(it.id).help(it.summary))
}

/// The beginning of a text that is too long to read.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 300;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
