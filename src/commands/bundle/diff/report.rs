//! What is shown of the changes.

use crate::{
    app::{
        crd_states::{Side, located},
        findings::{self, Finding, Format, Place},
    },
    terminal::{Look, Text},
};
use crd::compatibility;
use diagnostics::{About, Hint as _, Severity, count};
use go_data::yaml::{Value, json};
use olm::bundle::difference::Change;

/// What was compared, and what came out, the worst first.
pub struct Report {
    old: String,
    new: String,
    findings: Vec<Finding>,
}

impl Report {
    pub fn new(
        old: &Side,
        new: &Side,
        changes: Vec<Change>,
        of_crds: &[compatibility::Finding],
    ) -> Self {
        let mut findings: Vec<Finding> =
            changes.into_iter().map(|it| of_change(it, old, new)).collect();
        // What only follows from a removed field is not told again.
        let of_crds = of_crds.iter().filter(|it| !it.follows_removal());
        findings.extend(of_crds.map(|it| located(it, old, new)));
        findings.sort_by_key(|it| it.severity);
        Self { old: old.label.clone(), new: new.label.clone(), findings }
    }

    /// How many changes are of this severity.
    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.severity == severity).count()
    }

    pub fn print(&self, format: Format) {
        let shown: Vec<&Finding> = self.findings.iter().collect();
        let rules: Vec<&About> = super::rules().collect();
        findings::print(format, &shown, &rules, || self.text(&shown), || self.json());
    }

    /// Fails where a change breaks the upgrade.
    pub fn require_upgrade(&self) -> anyhow::Result<()> {
        match self.count(Severity::Error) {
            0 => Ok(()),
            _ => Err(anyhow::Error::msg(self.total()))
                .hint("revert each change, or accept changes of a rule that you have reviewed with `--allow RULE`"),
        }
    }

    fn total(&self) -> String {
        let counts = [
            count(self.count(Severity::Error), "breaking change"),
            count(self.count(Severity::Warning), "warning"),
            count(self.count(Severity::Note), "note"),
        ];
        format!("from {} to {}: {}", self.old, self.new, counts.join(", "))
    }

    /// Where a change breaks the upgrade, the error has the total.
    fn text(&self, shown: &[&Finding]) -> Text {
        let mut res = findings::text(shown);
        let (old, new) = (&self.old, &self.new);
        if self.findings.is_empty() {
            res.add(Look::Good, format!("no breaking change from {old} to {new}\n"));
        } else if self.count(Severity::Error) == 0 {
            res.add(Look::Plain, format!("{}\n", self.total()));
        }
        res
    }

    fn json(&self) -> Value {
        let change = |it: &Finding| {
            let place =
                |it: &Place| json!({ "path": it.path, "line": it.line, "column": it.column });
            json!({
                "rule": it.rule,
                "severity": it.severity.name(),
                "subject": it.subject,
                "what": it.what,
                "remedy": it.remedy,
                "place": it.declaration().map(place),
            })
        };
        json!({
            "old": self.old,
            "new": self.new,
            "upgradable": self.count(Severity::Error) == 0,
            "changes": self.findings.iter().map(change).collect::<Vec<_>>(),
        })
    }
}

fn of_change(it: Change, old: &Side, new: &Side) -> Finding {
    let place = it.place.map(|it| {
        let label = if it.is_old { &old.label } else { &new.label };
        Place::new(format!("{label}/{}", it.file), it.mark.line, it.mark.column)
    });
    Finding {
        rule: it.rule.id(),
        severity: it.rule.about().severity,
        fingerprint: ("change/v1", format!("{} {}", it.rule, it.subject)),
        object: it.subject.clone(),
        subject: it.subject,
        what: it.what,
        values: None,
        remedy: it.remedy,
        place,
        before: None,
    }
}
