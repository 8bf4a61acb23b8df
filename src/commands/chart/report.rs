//! What is shown of the findings.

use std::collections::BTreeSet;

use crate::{
    app::{
        charts::{Chart, Rule},
        findings::{self, Finding, Format},
    },
    terminal::{Look, Text},
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
        findings::print(format, &shown, &rules, || self.text(&shown), || self.json());
    }

    /// Fails where there is an error.
    pub fn require_agreement(&self) -> anyhow::Result<()> {
        if self.count(Severity::Error) == 0 {
            return Ok(());
        }
        Err(anyhow::Error::msg(self.total(" does not agree with the source")))
            .hint("accept findings of a rule that you have reviewed with `--allow RULE`")
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.severity == severity).count()
    }

    /// How many findings there are, and in what.
    fn total(&self, verdict: &str) -> String {
        let of = |it: Severity, word: &str| {
            Some(self.count(it)).filter(|it| 0 < *it).map(|it| count(it, word))
        };
        let counts =
            [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
        let counts: Vec<String> = counts.iter().filter_map(|it| of(it.0, it.1)).collect();
        let counts = match (counts.is_empty(), self.is_complete) {
            (true, true) => "no finding".to_owned(),
            (true, false) => "no finding in what could be read".to_owned(),
            (false, _) => counts.join(", "),
        };
        let (crds, renderings) = (count(self.crds, "CRD"), count(self.renderings, "rendering"));
        format!("{}{verdict} ({crds} of the source, {renderings}): {counts}", self.chart)
    }

    /// Where the chart does not agree, the error has the total.
    fn text(&self, shown: &[&Finding]) -> Text {
        let mut res = findings::text(shown);
        if self.count(Severity::Error) == 0 || !self.is_complete {
            let is_good = shown.is_empty() && self.is_complete;
            let look = if is_good { Look::Good } else { Look::Plain };
            res.add(look, self.total("") + "\n");
        }
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
