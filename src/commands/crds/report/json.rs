//! Every finding, for programs.

use super::Report;
use crate::app::findings::{self, Place};
use crd::compatibility::Finding;
use diagnostics::Severity;
use go_data::yaml::{Value, json};

pub fn render(report: &Report) -> Value {
    json!({
        "old": report.old,
        "new": report.new,
        "compatible": report.is_complete && report.count(Severity::Error) == 0,
        "complete": report.is_complete,
        "notCompared": report.left_out,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn finding((finding, located): &(Finding, findings::Finding)) -> Value {
    json!({
        "rule": finding.rule.id(),
        "severity": finding.severity.name(),
        "crd": finding.subject.crd,
        "version": finding.subject.version(),
        "field": finding.subject.field,
        "what": finding.what,
        "remedy": finding.remedy,
        "followsRemoval": finding.follows_removal(),
        "place": located.declaration().map(place),
    })
}

fn place(it: &Place) -> Value {
    json!({
        "path": it.path,
        "line": it.line,
        "column": it.column,
        "revision": it.revision,
    })
}
