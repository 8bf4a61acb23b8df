//! The report of `bundle diff`.

use crate::{
    app::{
        crds::crd_states::{CrdState, located},
        findings::{self, Finding, ReportFormat, SourceSpan},
    },
    terminal::{Look, Text},
};
use crd::compatibility;
use diagnostics::{Hint as _, RuleInfo, Severity, count};
use go_data::yaml::{Value, json};
use olm::bundle::difference::Change;

/// The compared bundles and the findings, the worst first.
pub struct UpgradeReport {
    old: String,
    new: String,
    findings: Vec<Finding>,
}

impl UpgradeReport {
    pub fn new(
        old: &CrdState,
        new: &CrdState,
        changes: Vec<Change>,
        of_crds: &[compatibility::Finding],
    ) -> Self {
        let mut findings: Vec<Finding> =
            changes.into_iter().map(|change| finding_from_change(change, old, new)).collect();
        // Findings that only follow from a removed field are not repeated.
        let of_crds = of_crds.iter().filter(|finding| !finding.follows_removal());
        findings.extend(of_crds.map(|finding| located(finding, old, new)));
        findings.sort_by_key(|finding| finding.severity);
        Self { old: old.label.clone(), new: new.label.clone(), findings }
    }

    /// Counts the changes of a severity.
    fn count_of(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    pub fn print(&self, format: ReportFormat) {
        let shown: Vec<&Finding> = self.findings.iter().collect();
        let rules: Vec<&RuleInfo> = super::collect_rules().collect();
        findings::print(format, &shown, &rules, || self.render_text(&shown), || self.render_json());
    }

    /// Fails where a change breaks the upgrade.
    pub fn require_upgrade(&self) -> anyhow::Result<()> {
        match self.count_of(Severity::Error) {
            0 => Ok(()),
            _ => Err(anyhow::Error::msg(self.format_total()))
                .hint("revert each change, or accept changes of a rule that you have reviewed with `--allow RULE`"),
        }
    }

    fn format_total(&self) -> String {
        let counts = [
            count(self.count_of(Severity::Error), "breaking change"),
            count(self.count_of(Severity::Warning), "warning"),
            count(self.count_of(Severity::Note), "note"),
        ];
        format!("from {} to {}: {}", self.old, self.new, counts.join(", "))
    }

    /// Renders the findings. If a change breaks the upgrade, the error has the total.
    fn render_text(&self, shown: &[&Finding]) -> Text {
        let mut text = findings::text(shown);
        let (old, new) = (&self.old, &self.new);
        if self.findings.is_empty() {
            text.add_part(Look::Good, format!("no breaking change from {old} to {new}\n"));
        } else if self.count_of(Severity::Error) == 0 {
            text.add_part(Look::Plain, format!("{}\n", self.format_total()));
        }
        text
    }

    fn render_json(&self) -> Value {
        let change = |finding: &Finding| {
            let place = |place: &SourceSpan| json!({ "path": place.path, "line": place.line, "column": place.column });
            json!({
                "rule": finding.rule,
                "severity": finding.severity.name(),
                "subject": finding.subject,
                "what": finding.what,
                "remedy": finding.remedy,
                "place": finding.declaration().map(place),
            })
        };
        json!({
            "old": self.old,
            "new": self.new,
            "upgradable": self.count_of(Severity::Error) == 0,
            "changes": self.findings.iter().map(change).collect::<Vec<_>>(),
        })
    }
}

fn finding_from_change(change: Change, old: &CrdState, new: &CrdState) -> Finding {
    let place = change.place.map(|place| {
        let label = if place.is_old { &old.label } else { &new.label };
        SourceSpan::new(format!("{label}/{}", place.file), place.mark.line, place.mark.column)
    });
    Finding {
        rule: change.rule.id(),
        severity: change.rule.info().severity,
        fingerprint: ("change/v1", format!("{} {}", change.rule, change.subject)),
        object: change.subject.clone(),
        subject: change.subject,
        what: change.what,
        values: None,
        remedy: change.remedy,
        place,
        before: None,
    }
}
