//! Annotations: GitHub shows them in a pull request, at their lines.

use super::{Located, Report};
use crate::{app::findings::annotations, terminal};
use diagnostics::Severity;

pub fn render(report: &Report) -> String {
    let shown = report.findings.iter().filter(|it| !it.finding.follows_removal());
    annotations(shown.map(annotation))
}

fn annotation(it: &Located) -> String {
    let finding = &it.finding;
    let mut properties = Vec::new();
    if let Some(place) = it.anchor.as_ref().or(it.place.as_ref()) {
        properties.push(("file", place.path.clone()));
        properties.push(("line", place.line.to_string()));
        properties.push(("col", place.column.to_string()));
    }
    properties.push(("title", format!("{}: {}", finding.rule, finding.subject)));
    let before = it.place.as_ref().filter(|_| finding.removed);
    let before = before.map(|it| format!("\nit was at {it}")).unwrap_or_default();
    let message = format!("{}{before}\nhint: {}", finding.what, finding.remedy);
    let level = match finding.severity {
        Severity::Note => "notice",
        other => other.name(),
    };
    terminal::github(level, &properties, &message)
}
