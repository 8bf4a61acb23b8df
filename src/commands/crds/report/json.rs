//! Every finding, for programs.

use super::{Located, Report};
use crate::commands::crds::side::Place;
use diagnostics::Severity;
use go_data::yaml::{Value, json};

pub fn render(report: &Report) -> Value {
    json!({
        "old": report.old,
        "new": report.new,
        "compatible": report.count(Severity::Error) == 0,
        "complete": report.is_complete,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn finding(it: &Located) -> Value {
    let finding = &it.finding;
    json!({
        "rule": finding.rule.name(),
        "severity": finding.severity.name(),
        "crd": finding.subject.crd,
        "version": finding.subject.version(),
        "field": finding.subject.field,
        "what": finding.what,
        "remedy": finding.remedy,
        "followsRemoval": finding.follows_removal(),
        "place": it.place.as_ref().map(place),
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
