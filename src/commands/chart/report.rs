//! What is shown of the findings.

use std::{collections::BTreeSet, fmt::Write as _};

use crate::app::{
    charts::{Chart, Rule},
    findings::{self, Finding, Format, MOST},
};
use diagnostics::{About, Hint as _, Severity, count};
use go_data::yaml::{Value, json};

pub struct Report {
    chart: String,
    findings: Vec<Finding>,
    /// How many CRDs were compared, and in how many ways the chart was rendered.
    crds: usize,
    renderings: usize,
    /// Whether the whole source could be read.
    is_complete: bool,
}

impl Report {
    /// Sorted by place; what every rendering has appears once.
    pub fn new(
        chart: &Chart,
        mut findings: Vec<Finding>,
        crds: usize,
        renderings: usize,
        is_complete: bool,
    ) -> Self {
        let mut seen = BTreeSet::new();
        findings.retain(|it| {
            let what = it.what.split(" with `--values ").next().unwrap_or_default().to_owned();
            seen.insert((it.rule, it.subject.clone(), what))
        });
        let place =
            |it: &Finding| it.place.as_ref().map(|it| (it.path.clone(), it.line, it.column));
        findings.sort_by_key(|it| (place(it), it.rule, it.subject.clone()));
        Self { chart: chart.folder.clone(), findings, crds, renderings, is_complete }
    }

    pub fn print(&self, format: Format) {
        let rules: Vec<&About> = Rule::all().map(Rule::about).collect();
        let shown: Vec<&Finding> = self.findings.iter().collect();
        findings::print(format, &shown, &rules, || self.text(), || self.json());
    }

    /// Fails where there is an error.
    pub fn require_agreement(&self) -> anyhow::Result<()> {
        let errors = match self.count(Severity::Error) {
            0 => return Ok(()),
            1 => "1 error".to_owned(),
            many => format!("{many} errors"),
        };
        Err(anyhow::format_err!("{} does not agree with the source: {errors}", self.chart))
            .hint("accept findings of a rule that you have reviewed with `--allow RULE`")
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.severity == severity).count()
    }

    fn text(&self) -> String {
        let mut res: String = self.findings.iter().take(MOST).map(Finding::paragraph).collect();
        if let more @ 1.. = self.findings.len().saturating_sub(MOST) {
            let _ = writeln!(res, "and {more} more findings; `--output json` lists them\n");
        }
        let of = |it: Severity, word: &str| {
            Some(self.count(it)).filter(|it| 0 < *it).map(|it| count(it, word))
        };
        let counts =
            [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
        let counts: Vec<String> = counts.iter().filter_map(|it| of(it.0, it.1)).collect();
        let counts = if counts.is_empty() { "no finding".to_owned() } else { counts.join(", ") };
        let (crds, renderings) = (count(self.crds, "CRD"), count(self.renderings, "rendering"));
        let _ = writeln!(res, "{} ({crds} of the source, {renderings}): {counts}", self.chart);
        res
    }

    fn json(&self) -> Value {
        let finding = |it: &Finding| {
            json!({
                "rule": it.rule,
                "severity": it.severity.name(),
                "subject": it.subject,
                "what": it.what,
                "remedy": it.remedy,
                "place": it.place.as_ref().map(|it| json!({
                    "path": it.path,
                    "line": Some(it.line).filter(|it| 0 < *it),
                    "column": Some(it.column).filter(|it| 0 < *it),
                })),
            })
        };
        json!({
            "chart": self.chart,
            "agrees": self.is_complete && self.count(Severity::Error) == 0,
            "complete": self.is_complete,
            "renderings": self.renderings,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}
