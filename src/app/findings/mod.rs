//! Findings of rules, and how each format shows them. What a report says besides, it adds by itself.

mod sarif;

use std::fmt;

use crate::terminal::{self, Look, Text, format_table};
use diagnostics::{Diagnostic, RuleInfo, Severity};
use go_data::yaml::Value;
pub use sarif::sarif;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
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
    /// The subject, such as a Deployment or a field; empty if the source span says it.
    pub subject: String,
    /// The beginning of the subject that findings have in common, such as a CRD.
    pub object: String,
    pub what: String,
    /// The old and the new value, if they are all that `what` tells.
    pub values: Option<[String; 2]>,
    /// The hint; empty if there is nothing to do.
    pub remedy: String,
    /// The source span at which to show the finding.
    pub place: Option<SourceSpan>,
    /// The source span in the old state, if the subject was removed.
    pub before: Option<SourceSpan>,
    /// The fingerprint, which stays the same from one run to the next, and the name of its algorithm.
    pub fingerprint: (&'static str, String),
}

/// A place in a file, on disk or at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSpan {
    pub path: String,
    /// From 1; 0 is the whole file.
    pub line: usize,
    pub column: usize,
    pub revision: Option<String>,
}

/// The number of findings that are listed for people; formats for programs have all of them.
pub const MOST: usize = 200;

impl Finding {
    /// Returns the source span that shows a finding best: the one in the old state, if the subject was removed.
    pub fn declaration(&self) -> Option<&SourceSpan> {
        self.before.as_ref().or(self.place.as_ref())
    }

    /// Formats the finding as a paragraph, for files and pipes.
    fn to_paragraph(&self) -> Text {
        let place =
            self.declaration().map(|declaration| format!("{declaration}: ")).unwrap_or_default();
        let remedy = match self.remedy.as_str() {
            "" => String::new(),
            remedy => format!("  hint: {}\n", shortened(remedy)),
        };
        let (what, severity) = (shortened(&self.what), self.severity.name());
        format!("{place}{severity}[{}]: {what}\n  {}\n{remedy}\n", self.rule, self.subject).into()
    }

    /// Formats the finding as a row of the table of its object.
    fn to_row(&self) -> [Text; 3] {
        let severity = format!("  {}[{}]", self.severity.name(), self.rule);
        let part = self.subject.strip_prefix(&self.object).unwrap_or_default().trim();
        let what = match &self.values {
            Some([old, new]) => format!("{} → {}", shortened(old), shortened(new)),
            None => shortened(&self.what),
        };
        [Text::new(self.severity.into(), severity), part.into(), what.into()]
    }

    /// Formats the lines below its row.
    fn details_below(&self) -> Text {
        let mut output = Text::default();
        if let Some(place) = self.declaration() {
            output.add_part(Look::Aside, format!("    {place}\n"));
        }
        if !self.remedy.is_empty() {
            output.add_part(Look::Note, "    hint");
            output.add_part(Look::Plain, format!(": {}\n", shortened(&self.remedy)));
        }
        output
    }

    /// Returns the finding as a message, for `--message-format`.
    pub fn diagnostic(&self) -> Diagnostic {
        let message = format!("{}: {}", self.subject, self.what);
        let mut res = match &self.place {
            Some(it) if it.line == 0 => Diagnostic::in_file(&it.path, message),
            Some(it) => Diagnostic::in_file(&it.path, message).at_position(it.line, it.column),
            None => Diagnostic::from(message),
        };
        res.code = Some(self.rule);
        res.hints.extend(Some(self.remedy.clone()).filter(|remedy| !remedy.is_empty()));
        res
    }

    fn to_annotation(&self) -> String {
        let mut properties = Vec::new();
        if let Some(place) = &self.place {
            properties.push(("file", place.path.clone()));
            if place.line > 0 {
                properties.push(("line", place.line.to_string()));
                properties.push(("col", place.column.to_string()));
            }
        }
        let subject = Some(&self.subject).filter(|subject| !subject.is_empty());
        let subject = subject.map(|subject| format!(": {subject}")).unwrap_or_default();
        properties.push(("title", format!("{}{subject}", self.rule)));
        let mut message = self.what.clone();
        message.extend(self.before.as_ref().map(|before| format!("\nit was at {before}")));
        if !self.remedy.is_empty() {
            message += &format!("\nhint: {}", self.remedy);
        }
        terminal::render_workflow_command(self.severity, &properties, &message)
    }
}

impl SourceSpan {
    pub fn new(path: impl Into<String>, line: usize, column: usize) -> Self {
        Self { path: path.into(), line, column, revision: None }
    }
}

impl fmt::Display for SourceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, revision } = self;
        write!(f, "{path}")?;
        if *line > 0 {
            write!(f, ":{line}:{column}")?;
        }
        revision.as_ref().map_or(Ok(()), |place| write!(f, " at {place}"))
    }
}

/// Returns the annotations of the first findings, and how many more there are.
pub fn annotations(all: &[&Finding]) -> String {
    let mut output: String = all.iter().take(MOST).map(|finding| finding.to_annotation()).collect();
    if let more @ 1.. = all.len().saturating_sub(MOST) {
        let text = format!("and {more} more findings; `--output json` lists them");
        output += &terminal::render_workflow_command(Severity::Note, &[], &text);
    }
    output
}

/// Returns the first findings for people, and how many more there are: on a terminal a table for each object.
pub fn text(all: &[&Finding]) -> Text {
    let shown = &all[..all.len().min(MOST)];
    let mut output = if terminal::stdout_is_terminal() {
        format_tables(shown)
    } else {
        shown.iter().map(|finding| finding.to_paragraph()).collect()
    };
    if let more @ 1.. = all.len() - shown.len() {
        let text = format!("and {more} more findings; `--output json` lists them");
        output.add_part(Look::Plain, text + "\n\n");
    }
    output
}

/// Returns the objects in the order of their first findings.
fn format_tables(findings: &[&Finding]) -> Text {
    let mut output = Text::default();
    let mut objects: Vec<&str> = Vec::new();
    for it in findings.iter().filter(|finding| !finding.object.is_empty()) {
        if !objects.contains(&it.object.as_str()) {
            objects.push(&it.object);
        }
    }
    for object in objects {
        let of_object: Vec<_> =
            findings.iter().filter(|finding| finding.object == object).collect();
        let rows: Vec<[Text; 3]> = of_object.iter().map(|finding| finding.to_row()).collect();
        output.add_part(Look::Heading, format!("{object}\n"));
        for (row, it) in format_table(&rows).into_iter().zip(of_object) {
            output += row;
            output += it.details_below();
        }
        output.add_part(Look::Plain, "\n");
    }
    output
}

/// Prints a report. Where stdout has text, programs read its findings as messages.
pub fn print(
    format: ReportFormat,
    shown: &[&Finding],
    rules: &[&RuleInfo],
    text: impl FnOnce() -> Text,
    json: impl FnOnce() -> Value,
) {
    match format {
        ReportFormat::Text => {
            shown.iter().for_each(|finding| {
                terminal::print_finding(finding.severity, &finding.diagnostic())
            });
            terminal::print_styled(&text());
        }
        ReportFormat::Json => terminal::write_data(&format!("{:#}\n", json())),
        ReportFormat::Sarif => terminal::write_data(&format!("{:#}\n", sarif(rules, shown))),
        ReportFormat::Github => terminal::write_data(&annotations(shown)),
    }
}

/// Rules as values of a flag.
pub fn values<'a>(
    rules: impl Iterator<Item = &'a RuleInfo>,
) -> impl Iterator<Item = clap::builder::PossibleValue> {
    rules.map(|rule| clap::builder::PossibleValue::new(rule.id).help(rule.summary))
}

/// Returns the beginning of a text that is too long to read.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 300;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
