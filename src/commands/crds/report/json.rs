//! Every finding, for programs.

use super::ComparisonReport;
use crate::app::findings::{self, SourceSpan};
use crd::compatibility::Finding;
use diagnostics::Severity;
use go_data::yaml::{Value, json};

pub fn render(report: &ComparisonReport) -> Value {
    json!({
        "old": report.old,
        "new": report.new,
        "compatible": report.is_complete && report.count_of(Severity::Error) == 0,
        "complete": report.is_complete,
        "notCompared": report.left_out,
        "findings": report.findings.iter().map(render_finding).collect::<Vec<_>>(),
    })
}

fn render_finding((finding, located): &(Finding, findings::Finding)) -> Value {
    json!({
        "rule": finding.rule.id(),
        "severity": finding.severity.name(),
        "crd": finding.subject.crd,
        "version": finding.subject.version(),
        "field": finding.subject.field,
        "what": finding.what,
        "remedy": finding.remedy,
        "followsRemoval": finding.follows_removal(),
        "place": located.declaration().map(render_place),
    })
}

fn render_place(place: &SourceSpan) -> Value {
    json!({
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "revision": place.revision,
    })
}
