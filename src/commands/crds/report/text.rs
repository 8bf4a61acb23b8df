//! For people: each finding with its place, what changed, and what would make it compatible.

use std::collections::BTreeSet;

use super::{Report, pairs};
use crate::{
    app::findings,
    terminal::{Look, Text},
};
use crd::compatibility::{Finding, Rule, Subject};
use diagnostics::{Severity, count};

pub fn render(report: &Report) -> Text {
    let removed = removed(report);
    let shown = report.findings.iter().filter(|it| !is_repetition(&it.0, &removed));
    let shown: Vec<_> = shown.collect();
    let lines = pairs::combined(&shown, &report.converted);
    let mut res = findings::text(&lines.iter().map(pairs::Line::finding).collect::<Vec<_>>());
    let hidden = report.findings.len() - shown.len();
    if 0 < hidden {
        let text = match hidden {
            1 => "1 more finding results from a removed field; `--output json` lists it".to_owned(),
            _ => format!(
                "{hidden} more findings result from removed fields; `--output json` lists them"
            ),
        };
        res.add(Look::Aside, format!("{text}\n\n"));
    }
    let (old, new) = (&report.old, &report.new);
    let errors = report.count(Severity::Error);
    if !report.is_complete && report.sizes == (0, 0) {
        // The error names what could not be read.
        return res;
    }
    if errors == 0 && report.shown().is_empty() && report.is_complete {
        let text = format!("no breaking change from {old} to {new} ({})\n", sizes(report));
        res.add(Look::Good, text);
    } else if errors == 0 || !report.is_complete {
        // Elsewhere, the error has the total.
        let part = if report.is_complete { "" } else { "of what could be read, " };
        res.add(Look::Plain, format!("{part}{}\n", total(report)));
    }
    res
}

pub fn total(report: &Report) -> String {
    let (old, new, sizes) = (&report.old, &report.new, sizes(report));
    let counts = [
        count(report.count(Severity::Error), "breaking change"),
        count(report.count(Severity::Warning), "warning"),
    ];
    let notes = match report.count(Severity::Note) {
        0 => String::new(),
        notes => format!(", {}", count(notes, "note")),
    };
    format!("from {old} to {new} ({sizes}): {}{notes}", counts.join(", "))
}

fn sizes(report: &Report) -> String {
    match report.sizes {
        (old, new) if old == new => count(new, "CRD"),
        (old, new) => format!("{old} and {}", count(new, "CRD")),
    }
}

/// The fields that were removed, each with its CRD and versions.
type Removed<'a> = BTreeSet<(&'a str, &'a [String], &'a str)>;

fn removed(report: &Report) -> Removed<'_> {
    let removals = report.findings.iter().filter(|it| it.0.rule == Rule::ExistingFieldRemoval);
    let subjects = removals.map(|it| &it.0.subject);
    subjects.filter_map(|it| Some((&*it.crd, &*it.versions, it.field.as_deref()?))).collect()
}

/// Whether it only says once more that a field was removed: of the field itself, or of one below it.
fn is_repetition(finding: &Finding, removed: &Removed<'_>) -> bool {
    if finding.follows_removal() {
        return true;
    }
    let Subject { crd, versions, field } = &finding.subject;
    let Some(field) = field.as_ref().filter(|_| finding.removed) else { return false };
    let above = field.match_indices(['.', '[']).map(|(end, _)| &field[..end]);
    { above }.any(|it| removed.contains(&(crd, versions, it)))
}
