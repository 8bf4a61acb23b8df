//! The report of `chart check`.

use std::collections::BTreeSet;

use crate::{
    app::{
        charts::{Chart, Rule},
        findings::{self, Finding, ReportFormat},
    },
    terminal::{Look, Text},
};
use diagnostics::{Hint as _, RuleInfo, Severity, count};
use go_data::yaml::{Value, json};

pub struct ChartReport {
    chart: String,
    findings: Vec<Finding>,
    /// The number of compared CRDs.
    crds: usize,
    renderings: usize,
    /// True if the whole source could be read.
    is_complete: bool,
}

impl ChartReport {
    /// Sorted by place; what every rendering has appears once.
    pub fn new(
        chart: &Chart,
        mut findings: Vec<Finding>,
        crds: usize,
        renderings: usize,
        is_complete: bool,
    ) -> Self {
        let mut seen = BTreeSet::new();
        findings.retain(|finding| {
            let what = finding.what.split(" with `--values ").next().unwrap_or_default().to_owned();
            seen.insert((finding.rule, finding.subject.clone(), what))
        });
        let place = |finding: &Finding| {
            finding.place.as_ref().map(|place| (place.path.clone(), place.line, place.column))
        };
        findings.sort_by_key(|finding| (place(finding), finding.rule, finding.subject.clone()));
        Self { chart: chart.folder.clone(), findings, crds, renderings, is_complete }
    }

    pub fn print(&self, format: ReportFormat) {
        let rules: Vec<&RuleInfo> = Rule::all().map(Rule::info).collect();
        let shown: Vec<&Finding> = self.findings.iter().collect();
        findings::print(format, &shown, &rules, || self.render_text(&shown), || self.render_json());
    }

    /// Fails where there is an error.
    pub fn require_agreement(&self) -> anyhow::Result<()> {
        if self.count_of(Severity::Error) == 0 {
            return Ok(());
        }
        Err(anyhow::Error::msg(self.format_total(" does not agree with the source")))
            .hint("accept findings of a rule that you have reviewed with `--allow RULE`")
    }

    fn count_of(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Formats the number of findings, and what was compared.
    fn format_total(&self, verdict: &str) -> String {
        let of = |severity: Severity, word: &str| {
            Some(self.count_of(severity))
                .filter(|number| *number > 0)
                .map(|number| count(number, word))
        };
        let counts =
            [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
        let counts: Vec<String> = counts.iter().filter_map(|entry| of(entry.0, entry.1)).collect();
        let counts = match (counts.is_empty(), self.is_complete) {
            (true, true) => "no finding".to_owned(),
            (true, false) => "no finding in what could be read".to_owned(),
            (false, _) => counts.join(", "),
        };
        let (crds, renderings) = (count(self.crds, "CRD"), count(self.renderings, "rendering"));
        format!("{}{verdict} ({crds} of the source, {renderings}): {counts}", self.chart)
    }

    /// Renders the findings. If the chart does not agree with the source, the error has the total.
    fn render_text(&self, shown: &[&Finding]) -> Text {
        let mut text = findings::text(shown);
        if self.count_of(Severity::Error) == 0 || !self.is_complete {
            let is_good = shown.is_empty() && self.is_complete;
            let look = if is_good { Look::Good } else { Look::Plain };
            text.add_part(look, self.format_total("") + "\n");
        }
        text
    }

    fn render_json(&self) -> Value {
        let finding = |finding: &Finding| {
            json!({
                "rule": finding.rule,
                "severity": finding.severity.name(),
                "subject": finding.subject,
                "what": finding.what,
                "remedy": finding.remedy,
                "place": finding.place.as_ref().map(|place| json!({
                    "path": place.path,
                    "line": Some(place.line).filter(|line| *line > 0),
                    "column": Some(place.column).filter(|column| *column > 0),
                })),
            })
        };
        json!({
            "chart": self.chart,
            "agrees": self.is_complete && self.count_of(Severity::Error) == 0,
            "complete": self.is_complete,
            "renderings": self.renderings,
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}
