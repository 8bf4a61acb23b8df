//! What is shown of the findings.

mod json;
mod text;

use super::side::Side;
use crate::app::findings::{self, Format};
use crd::compatibility::{Finding, Rule};
use diagnostics::{About, Severity};

/// What was compared, and what came out.
pub struct Report {
    old: String,
    new: String,
    /// How many CRDs each state has.
    sizes: (usize, usize),
    findings: Vec<(Finding, findings::Finding)>,
    /// Whether both states could be read completely.
    is_complete: bool,
}

/// A finding with its places: what was removed is shown at the kind that had it.
pub fn located(it: &Finding, old: &Side, new: &Side) -> findings::Finding {
    let (before, after) = (old.locate(&it.subject), new.locate(&it.subject));
    let removed = it.removed || !new.crds.contains_key(&it.subject.crd);
    findings::Finding {
        rule: it.rule.id(),
        severity: it.severity,
        subject: it.subject.to_string(),
        what: it.what.clone(),
        remedy: it.remedy.clone(),
        place: after.or_else(|| before.clone()),
        before: before.filter(|_| removed),
        fingerprint: ("change/v1", format!("{} {}", it.rule, it.subject)),
    }
}

impl Report {
    pub fn new(old: &Side, new: &Side, findings: Vec<Finding>, is_complete: bool) -> Self {
        let locate = |it: Finding| {
            let located = located(&it, old, new);
            (it, located)
        };
        Self {
            old: old.label.clone(),
            new: new.label.clone(),
            sizes: (old.crds.len(), new.crds.len()),
            findings: findings.into_iter().map(locate).collect(),
            is_complete,
        }
    }

    /// How many findings are of this severity; what only follows from a removed field is not counted again.
    pub fn count(&self, severity: Severity) -> usize {
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
