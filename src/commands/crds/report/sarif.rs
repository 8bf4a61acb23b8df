//! SARIF 2.1.0, as code scanning takes it up.

use super::{Located, Report};
use crate::{
    commands::crds::side::Place,
    compatibility::Rule,
    yaml::{Map, Value, json},
};

pub fn render(report: &Report) -> Value {
    let shown = report.findings.iter().filter(|it| !it.finding.follows_removal());
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "operator-rs",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": Rule::all().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": shown.map(result).collect::<Vec<_>>(),
        }],
    })
}

fn rule(rule: Rule) -> Value {
    json!({
        "id": rule.name(),
        "shortDescription": {"text": rule.summary()},
        "defaultConfiguration": {"level": rule.severity().name()},
    })
}

fn result(it: &Located) -> Value {
    let finding = &it.finding;
    let before = it.place.as_ref().filter(|it| it.revision.is_some());
    let at = before.map(|it| format!(" It was at {it}.")).unwrap_or_default();
    let text =
        format!("{}: {}.{at} To be compatible: {}.", it.subject(), finding.what, finding.remedy);
    let mut logical = Map::new();
    logical.insert("fullyQualifiedName".to_owned(), it.subject().into());
    let mut location = Map::new();
    // A place at another revision is none of the files that are scanned.
    let place = it.anchor.as_ref().or(it.place.as_ref()).filter(|it| it.revision.is_none());
    if let Some(place) = place {
        location.insert("physicalLocation".to_owned(), physical(place));
    }
    location.insert("logicalLocations".to_owned(), json!([logical]));
    json!({
        "ruleId": finding.rule.name(),
        "ruleIndex": Rule::all().position(|it| it == finding.rule),
        "level": finding.severity.name(),
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"change/v1": format!("{} {}", finding.rule, it.subject())},
    })
}

fn physical(place: &Place) -> Value {
    json!({
        "artifactLocation": {"uri": uri(&place.path), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": place.line, "startColumn": place.column},
    })
}

/// A path as a relative reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut res = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                res.push(byte.into());
            }
            byte => res += &format!("%{byte:02X}"),
        }
    }
    res
}

#[test]
fn a_path_is_a_relative_reference() {
    assert_eq!(uri("src/a b:ü.rs"), "src/a%20b%3A%C3%BC.rs");
}
