//! For people: each finding with its place, what changed, and what would make it compatible.

use std::fmt::Write as _;

use super::{Located, Report};
use crate::{
    commands::findings::{count, shortened},
    compatibility::Rule,
    hint::Severity,
};

pub fn render(report: &Report) -> String {
    let mut res = String::new();
    let mut hidden = 0;
    for it in &report.findings {
        if is_repetition(it, report) {
            hidden += 1;
            continue;
        }
        res += &block(it);
    }
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

fn block(it: &Located) -> String {
    let finding = &it.finding;
    let place = it.place.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
    format!(
        "{place}{}[{}]: {}\n  {}\n  hint: {}\n\n",
        finding.severity.name(),
        finding.rule,
        shortened(&finding.what),
        finding.subject,
        shortened(&finding.remedy)
    )
}

/// Whether it only says once more that a field was removed: of the field itself, or of one below it.
fn is_repetition(it: &Located, report: &Report) -> bool {
    let finding = &it.finding;
    if finding.follows_removal() {
        return true;
    }
    let Some(field) = finding.subject.field.as_ref().filter(|_| finding.removed) else {
        return false;
    };
    let above = |other: &Located| {
        let rest = other.finding.subject.field.as_ref().and_then(|it| field.strip_prefix(it));
        other.finding.rule == Rule::ExistingFieldRemoval
            && other.finding.subject.crd == finding.subject.crd
            && other.finding.subject.versions == finding.subject.versions
            && rest.is_some_and(|it| it.starts_with(['.', '[']))
    };
    report.findings.iter().any(above)
}
