//! What is shown of the findings: one function a format.

use serde::Serialize as _;

use super::Target;
use crate::{
    app::{
        bundles,
        findings::{self, Place},
    },
    terminal,
};
use diagnostics::{Diagnostic, Diagnostics, Severity, count};
use go_data::yaml::{Mark, Value, json};
use olm::bundle::validate::{Files, Finding, rules::Rule};

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Warnings and errors on stderr
    Text,
    /// Every finding with its rule, file, line and column
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
    /// An object on stdout, as operator-sdk prints it
    JsonAlpha1,
}

pub struct Report<'a> {
    pub folder: &'a str,
    pub files: &'a Files,
    pub findings: &'a [Finding],
    pub target: Option<Target>,
}

impl Report<'_> {
    /// Fails where there is an error.
    pub fn print(&self, format: Format) -> anyhow::Result<()> {
        let invalid = format!("{} is not valid", self.folder);
        let shown = self.shown();
        let shown: Vec<&findings::Finding> = shown.iter().collect();
        match format {
            Format::Text => return self.text(invalid),
            Format::Json => terminal::data(&format!("{:#}\n", self.json())),
            Format::Sarif => {
                let rules: Vec<_> = Rule::all().map(Rule::about).collect();
                terminal::data(&format!("{:#}\n", findings::sarif(&rules, &shown)));
            }
            Format::Github => terminal::data(&findings::annotations(&shown)),
            Format::JsonAlpha1 => terminal::data(&self.json_alpha1()?),
        }
        anyhow::ensure!(self.is_valid(), invalid);
        Ok(())
    }

    fn is_valid(&self) -> bool {
        self.findings.iter().all(|it| it.severity != Severity::Error)
    }

    fn text(&self, invalid: String) -> anyhow::Result<()> {
        let of = |severity| self.diagnostics(severity);
        of(Severity::Warning).into_iter().for_each(terminal::warn);
        if self.is_valid() {
            let note = match self.findings.len() {
                0 => String::new(),
                warnings => format!(", {}", count(warnings, "warning")),
            };
            terminal::print(&format!("{} is valid{note}\n", self.folder));
            return Ok(());
        }
        Err(Diagnostics { headline: invalid, list: of(Severity::Error) }.into())
    }

    fn diagnostics(&self, severity: Severity) -> Vec<Diagnostic> {
        bundles::diagnostics(self.folder, self.files, self.findings, severity)
    }

    fn json(&self) -> Value {
        let target = match self.target {
            None => Value::Null,
            Some(Target::Olmv0) => "olmv0".into(),
            Some(Target::Olmv1) => "olmv1".into(),
        };
        json!({
            "bundle": self.folder,
            "valid": self.is_valid(),
            "target": target,
            "findings": self.findings.iter().map(|it| self.finding(it)).collect::<Vec<_>>(),
        })
    }

    fn finding(&self, it: &Finding) -> Value {
        let hint = it.rule.about().hint;
        json!({
            "rule": it.rule.id(),
            "suite": it.rule.suite().name(),
            "origin": it.rule.origin().name(),
            "severity": it.severity.name(),
            "file": it.path(self.folder),
            "field": it.field,
            "line": it.mark.map(|it| it.line),
            "column": it.mark.map(|it| it.column),
            "message": it.message,
            "hint": Some(hint).filter(|it| !it.is_empty()),
        })
    }

    fn shown(&self) -> Vec<findings::Finding> {
        let shown = |it: &Finding| {
            let mark = it.mark.unwrap_or(Mark { line: 0, column: 0 });
            findings::Finding {
                rule: it.rule.id(),
                severity: it.severity,
                subject: String::new(),
                object: String::new(),
                what: it.message.clone(),
                values: None,
                remedy: it.rule.about().hint.to_owned(),
                place: Some(Place::new(it.path(self.folder), mark.line, mark.column)),
                before: None,
                fingerprint: ("finding/v1", format!("{} {} {}", it.rule, it.file, it.field)),
            }
        };
        self.findings.iter().map(shown).collect()
    }

    fn json_alpha1(&self) -> anyhow::Result<String> {
        let line =
            |it: &Finding| Line { r#type: it.severity.name(), message: it.within(self.folder) };
        let outputs: Vec<Line> = self.findings.iter().map(line).collect();
        let report =
            Alpha1 { passed: self.is_valid(), outputs: Some(outputs).filter(|it| !it.is_empty()) };
        let mut bytes = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        report.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, format))?;
        bytes.push(b'\n');
        Ok(String::from_utf8(bytes)?)
    }
}

/// What operator-sdk prints, in its order.
#[derive(serde::Serialize)]
struct Alpha1 {
    passed: bool,
    outputs: Option<Vec<Line>>,
}

#[derive(serde::Serialize)]
struct Line {
    r#type: &'static str,
    message: String,
}
