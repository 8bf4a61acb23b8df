//! The report of `crds diff`.

mod json;
mod pairs;
mod text;

use std::collections::BTreeSet;

use crate::app::{
    crds::crd_states::{CrdState, located},
    findings::{self, ReportFormat},
};
use crd::compatibility::{Finding, Rule};
use diagnostics::{Hint as _, RuleInfo, Severity};

/// The compared states and the findings.
pub struct ComparisonReport {
    old: String,
    new: String,
    /// The number of CRDs in each state.
    sizes: (usize, usize),
    findings: Vec<(Finding, findings::Finding)>,
    /// True if both states could be read completely.
    is_complete: bool,
    /// The CRDs that could be read in one state only.
    left_out: Vec<String>,
    /// The CRDs whose versions a webhook converts in the new state.
    converted: BTreeSet<String>,
}

impl ComparisonReport {
    pub fn new(
        (old, new): (&CrdState, &CrdState),
        findings: Vec<Finding>,
        is_complete: bool,
        left_out: &[String],
    ) -> Self {
        let locate = |finding: Finding| {
            let located = located(&finding, old, new);
            (finding, located)
        };
        let converted = new.crds.values().filter(|crd| crd.converts());
        Self {
            old: old.label.clone(),
            new: new.label.clone(),
            sizes: (old.crds.len(), new.crds.len()),
            findings: findings.into_iter().map(locate).collect(),
            is_complete,
            left_out: left_out.to_owned(),
            converted: converted.map(|crd| crd.name.clone()).collect(),
        }
    }

    /// Fails where a change is breaking.
    pub fn require_compatible(&self) -> anyhow::Result<()> {
        match self.count_of(Severity::Error) {
            0 => Ok(()),
            _ => Err(anyhow::Error::msg(text::format_total(self)))
                .hint("revert each change, or accept it after a review: `--allow-at` for one field, `--allow` for a rule"),
        }
    }

    /// Counts the findings of a severity, without those that only follow from a removed field.
    fn count_of(&self, severity: Severity) -> usize {
        self.independent_findings().iter().filter(|finding| finding.severity == severity).count()
    }

    fn independent_findings(&self) -> Vec<&findings::Finding> {
        self.findings.iter().filter(|pair| !pair.0.follows_removal()).map(|pair| &pair.1).collect()
    }

    pub fn print(&self, format: ReportFormat) {
        let rules: Vec<&RuleInfo> = Rule::all().map(Rule::info).collect();
        let (text, json) = (|| text::render(self), || json::render(self));
        findings::print(format, &self.independent_findings(), &rules, text, json);
    }
}
