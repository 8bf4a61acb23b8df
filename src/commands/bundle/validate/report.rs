//! The report of `bundle validate`, with one function for each format.

use serde::Serialize as _;

use super::Target;
use crate::{
    app::{
        findings::{self, SourceSpan},
        images::bundles,
    },
    terminal,
};
use diagnostics::{Diagnostic, Diagnostics, Severity, count};
use go_data::yaml::{Mark, Value, json};
use olm::bundle::validate::{Files, Finding, rules::Rule};

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ValidationFormat {
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

pub struct ValidationReport<'a> {
    pub folder: &'a str,
    pub files: &'a Files,
    pub findings: &'a [Finding],
    pub target: Option<Target>,
}

impl ValidationReport<'_> {
    /// Fails where there is an error.
    pub fn print(&self, format: ValidationFormat) -> anyhow::Result<()> {
        let invalid = format!("{} is not valid", self.folder);
        let shown = self.to_findings();
        let shown: Vec<&findings::Finding> = shown.iter().collect();
        match format {
            ValidationFormat::Text => return self.print_text(invalid),
            ValidationFormat::Json => terminal::write_data(&format!("{:#}\n", self.render_json())),
            ValidationFormat::Sarif => {
                let rules: Vec<_> = Rule::all().map(Rule::info).collect();
                terminal::write_data(&format!("{:#}\n", findings::sarif(&rules, &shown)));
            }
            ValidationFormat::Github => terminal::write_data(&findings::annotations(&shown)),
            ValidationFormat::JsonAlpha1 => terminal::write_data(&self.json_alpha1()?),
        }
        anyhow::ensure!(self.is_valid(), invalid);
        Ok(())
    }

    fn is_valid(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != Severity::Error)
    }

    fn print_text(&self, invalid: String) -> anyhow::Result<()> {
        let of = |severity| self.diagnostics_of(severity);
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

    fn diagnostics_of(&self, severity: Severity) -> Vec<Diagnostic> {
        bundles::diagnostics(self.folder, self.files, self.findings, severity)
    }

    fn render_json(&self) -> Value {
        let target = match self.target {
            None => Value::Null,
            Some(Target::Olmv0) => "olmv0".into(),
            Some(Target::Olmv1) => "olmv1".into(),
        };
        json!({
            "bundle": self.folder,
            "valid": self.is_valid(),
            "target": target,
            "findings": self.findings.iter().map(|finding| self.render_finding(finding)).collect::<Vec<_>>(),
        })
    }

    fn render_finding(&self, finding: &Finding) -> Value {
        let hint = finding.rule.info().hint;
        json!({
            "rule": finding.rule.id(),
            "suite": finding.rule.suite().name(),
            "origin": finding.rule.origin().name(),
            "severity": finding.severity.name(),
            "file": finding.path_in(self.folder),
            "field": finding.field,
            "line": finding.mark.map(|mark| mark.line),
            "column": finding.mark.map(|mark| mark.column),
            "message": finding.message,
            "hint": Some(hint).filter(|hint| !hint.is_empty()),
        })
    }

    fn to_findings(&self) -> Vec<findings::Finding> {
        let shown = |finding: &Finding| {
            let mark = finding.mark.unwrap_or(Mark { line: 0, column: 0 });
            findings::Finding {
                rule: finding.rule.id(),
                severity: finding.severity,
                subject: String::new(),
                object: String::new(),
                what: finding.message.clone(),
                values: None,
                remedy: finding.rule.info().hint.to_owned(),
                place: Some(SourceSpan::new(finding.path_in(self.folder), mark.line, mark.column)),
                before: None,
                fingerprint: (
                    "finding/v1",
                    format!("{} {} {}", finding.rule, finding.file, finding.field),
                ),
            }
        };
        self.findings.iter().map(shown).collect()
    }

    fn json_alpha1(&self) -> anyhow::Result<String> {
        let line = |finding: &Finding| Alpha1Output {
            r#type: finding.severity.name(),
            message: finding.line_in_folder(self.folder),
        };
        let outputs: Vec<Alpha1Output> = self.findings.iter().map(line).collect();
        let report = Alpha1 {
            passed: self.is_valid(),
            outputs: Some(outputs).filter(|outputs| !outputs.is_empty()),
        };
        let mut bytes = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        report.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, format))?;
        bytes.push(b'\n');
        Ok(String::from_utf8(bytes)?)
    }
}

/// The JSON object that operator-sdk prints, with its order of fields.
#[derive(serde::Serialize)]
struct Alpha1 {
    passed: bool,
    outputs: Option<Vec<Alpha1Output>>,
}

#[derive(serde::Serialize)]
struct Alpha1Output {
    r#type: &'static str,
    message: String,
}
