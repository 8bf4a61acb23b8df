//! For people: each finding with its place, what changed, and what would make it compatible.

use std::{collections::BTreeSet, fmt::Write as _};

use super::Report;
use crate::app::findings::{self, MOST};
use crd::compatibility::{Finding, Rule, Subject};
use diagnostics::{Severity, count};

pub fn render(report: &Report) -> String {
    let removed = removed(report);
    let shown = report.findings.iter().filter(|it| !is_repetition(&it.0, &removed));
    let shown: Vec<&findings::Finding> = shown.map(|it| &it.1).collect();
    let mut res: String = shown.iter().take(MOST).map(|it| it.paragraph()).collect();
    if MOST < shown.len() {
        let more = shown.len() - MOST;
        let _ = writeln!(res, "and {more} more findings; `--output json` lists them\n");
    }
    let hidden = report.findings.len() - shown.len();
    if 0 < hidden {
        let _ = writeln!(
            res,
            "{hidden} more findings result from removed fields; `--output json` lists them\n"
        );
    }
    let (old, new) = (&report.old, &report.new);
    let (errors, warnings) = (report.count(Severity::Error), report.count(Severity::Warning));
    let notes = match report.count(Severity::Note) {
        0 => String::new(),
        notes => format!(", {}", count(notes, "note")),
    };
    let _ = match (errors, warnings) {
        (0, 0) if notes.is_empty() => {
            writeln!(res, "no breaking change from {old} to {new} ({})", sizes(report))
        }
        (errors, warnings) => writeln!(
            res,
            "from {old} to {new} ({}): {}, {}{notes}",
            sizes(report),
            count(errors, "breaking change"),
            count(warnings, "warning")
        ),
    };
    res
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
