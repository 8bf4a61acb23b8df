//! For people: each finding with its place, what changed, and what would make it compatible.

use std::collections::BTreeSet;

use super::{ComparisonReport, pairs};
use crate::{
    app::findings,
    terminal::{Look, Text},
};
use crd::compatibility::{Finding, Rule, Subject};
use diagnostics::{Severity, count};

pub fn render(report: &ComparisonReport) -> Text {
    let removed = collect_removed_fields(report);
    let shown = report.findings.iter().filter(|pair| !is_repetition(&pair.0, &removed));
    let shown: Vec<_> = shown.collect();
    let lines = pairs::combine_pairs(&shown, &report.converted);
    let mut output =
        findings::text(&lines.iter().map(pairs::ReportLine::finding).collect::<Vec<_>>());
    let hidden = report.findings.len() - shown.len();
    if hidden > 0 {
        let text = match hidden {
            1 => "1 more finding results from a removed field; `--output json` lists it".to_owned(),
            _ => format!(
                "{hidden} more findings result from removed fields; `--output json` lists them"
            ),
        };
        output.add_part(Look::Aside, format!("{text}\n\n"));
    }
    let (old, new) = (&report.old, &report.new);
    let errors = report.count_of(Severity::Error);
    if !report.is_complete && report.sizes == (0, 0) {
        // The error names what could not be read.
        return output;
    }
    if errors == 0 && report.independent_findings().is_empty() && report.is_complete {
        let text = format!("no breaking change from {old} to {new} ({})\n", format_sizes(report));
        output.add_part(Look::Good, text);
    } else if errors == 0 || !report.is_complete {
        // Elsewhere, the error has the total.
        let part = if report.is_complete { "" } else { "of what could be read, " };
        output.add_part(Look::Plain, format!("{part}{}\n", format_total(report)));
    }
    output
}

pub fn format_total(report: &ComparisonReport) -> String {
    let (old, new, sizes) = (&report.old, &report.new, format_sizes(report));
    let counts = [
        count(report.count_of(Severity::Error), "breaking change"),
        count(report.count_of(Severity::Warning), "warning"),
    ];
    let notes = match report.count_of(Severity::Note) {
        0 => String::new(),
        notes => format!(", {}", count(notes, "note")),
    };
    format!("from {old} to {new} ({sizes}): {}{notes}", counts.join(", "))
}

fn format_sizes(report: &ComparisonReport) -> String {
    match report.sizes {
        (old, new) if old == new => count(new, "CRD"),
        (old, new) => format!("{old} and {}", count(new, "CRD")),
    }
}

/// The fields that were removed, each with its CRD and versions.
type Removed<'a> = BTreeSet<(&'a str, &'a [String], &'a str)>;

fn collect_removed_fields(report: &ComparisonReport) -> Removed<'_> {
    let removals = report.findings.iter().filter(|pair| pair.0.rule == Rule::ExistingFieldRemoval);
    let subjects = removals.map(|pair| &pair.0.subject);
    subjects
        .filter_map(|subject| Some((&*subject.crd, &*subject.versions, subject.field.as_deref()?)))
        .collect()
}

/// Returns whether a finding only repeats that its field, or one above it, was removed.
fn is_repetition(finding: &Finding, removed: &Removed<'_>) -> bool {
    if finding.follows_removal() {
        return true;
    }
    let Subject { crd, versions, field } = &finding.subject;
    let Some(field) = field.as_ref().filter(|_| finding.removed) else { return false };
    let above = field.match_indices(['.', '[']).map(|(end, _)| &field[..end]);
    { above }.any(|path| removed.contains(&(crd, versions, path)))
}
