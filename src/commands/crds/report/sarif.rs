//! Findings as SARIF.

use super::{Located, Report};
use crate::app::findings;
use crd::compatibility::Rule;
use go_data::yaml::{Map, Value, json};

pub fn render(report: &Report) -> Value {
    let shown = report.findings.iter().filter(|it| !it.finding.follows_removal());
    let rules = Rule::all().map(|it| findings::rule(it.name(), it.summary(), it.severity()));
    findings::sarif(rules.collect(), shown.map(result).collect())
}

fn result(it: &Located) -> Value {
    let finding = &it.finding;
    let before = it.place.as_ref().filter(|it| it.revision.is_some());
    let at = before.map(|it| format!(" It was at {it}.")).unwrap_or_default();
    let text =
        format!("{}: {}.{at} To be compatible: {}.", finding.subject, finding.what, finding.remedy);
    let mut logical = Map::new();
    logical.insert("fullyQualifiedName".to_owned(), finding.subject.to_string().into());
    let mut location = Map::new();
    // A place at another revision is none of the files that are scanned.
    let place = it.anchor.as_ref().or(it.place.as_ref()).filter(|it| it.revision.is_none());
    if let Some(place) = place {
        location.insert(
            "physicalLocation".to_owned(),
            findings::physical(&place.path, place.line, place.column),
        );
    }
    location.insert("logicalLocations".to_owned(), json!([logical]));
    json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": Rule::all().position(|it| it == finding.rule),
        "level": finding.severity.name(),
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"change/v1": format!("{} {}", finding.rule, finding.subject)},
    })
}
