//! What is shown of the findings.

mod json;
mod pairs;
mod text;

use std::collections::BTreeSet;

use crate::app::{
    crd_states::{Side, located},
    findings::{self, Format},
};
use crd::compatibility::{Finding, Rule};
use diagnostics::{About, Hint as _, Severity};

/// What was compared, and what came out.
pub struct Report {
    old: String,
    new: String,
    /// How many CRDs each state has.
    sizes: (usize, usize),
    findings: Vec<(Finding, findings::Finding)>,
    /// Whether both states could be read completely.
    is_complete: bool,
    /// The CRDs that could be read in one state only.
    left_out: Vec<String>,
    /// The CRDs whose versions a webhook converts in the new state.
    converted: BTreeSet<String>,
}

impl Report {
    pub fn new(
        (old, new): (&Side, &Side),
        findings: Vec<Finding>,
        is_complete: bool,
        left_out: &[String],
    ) -> Self {
        let locate = |it: Finding| {
            let located = located(&it, old, new);
            (it, located)
        };
        let converted = new.crds.values().filter(|it| it.converts());
        Self {
            old: old.label.clone(),
            new: new.label.clone(),
            sizes: (old.crds.len(), new.crds.len()),
            findings: findings.into_iter().map(locate).collect(),
            is_complete,
            left_out: left_out.to_owned(),
            converted: converted.map(|it| it.name.clone()).collect(),
        }
    }

    /// Fails where a change is breaking.
    pub fn require_compatible(&self) -> anyhow::Result<()> {
        match self.count(Severity::Error) {
            0 => Ok(()),
            _ => Err(anyhow::Error::msg(text::total(self)))
                .hint("revert each change, or accept it after a review: `--allow-at` for one field, `--allow` for a rule"),
        }
    }

    /// How many findings are of this severity; what only follows from a removed field is not counted again.
    fn count(&self, severity: Severity) -> usize {
        self.shown().iter().filter(|it| it.severity == severity).count()
    }

    fn shown(&self) -> Vec<&findings::Finding> {
        self.findings.iter().filter(|it| !it.0.follows_removal()).map(|it| &it.1).collect()
    }

    pub fn print(&self, format: Format) {
        let rules: Vec<&About> = Rule::all().map(Rule::about).collect();
        let (text, json) = (|| text::render(self), || json::render(self));
        findings::print(format, &self.shown(), &rules, text, json);
    }
}
