//! SARIF 2.1.0, as code scanning takes it up.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Finding, Place};
use diagnostics::About;
use go_data::yaml::{Value, json};

/// The findings of one run, and the rules that it knows.
pub fn sarif<G>(rules: &[&About<G>], findings: &[&Finding]) -> Value {
    let index = |id: &str| rules.iter().position(|it| it.id == id);
    let results: Vec<Value> = findings.iter().map(|it| result(it, index(it.rule))).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "operator-rs",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|it| rule(it)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule<G>(rule: &About<G>) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.severity.name()},
    })
}

fn result(it: &Finding, index: Option<usize>) -> Value {
    let at = it.declaration().filter(|it| it.revision.is_some());
    let at = at.map(|it| format!(" It was at {it}.")).unwrap_or_default();
    let text = match (it.subject.as_str(), it.remedy.as_str()) {
        ("", _) => it.what.clone(),
        (subject, "") => format!("{subject}: {}.{at}", it.what),
        (subject, remedy) => format!("{subject}: {}.{at} Hint: {remedy}.", it.what),
    };
    let mut location = json!({});
    if !it.subject.is_empty() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": it.subject}]);
    }
    // A place at another revision is none of the files that are scanned.
    if let Some(place) = it.place.as_ref().filter(|it| it.revision.is_none()) {
        location["physicalLocation"] = physical(place);
    }
    json!({
        "ruleId": it.rule,
        "ruleIndex": index,
        "level": it.severity.name(),
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {it.fingerprint.0: it.fingerprint.1},
    })
}

fn physical(place: &Place) -> Value {
    let path = &place.path;
    let location = match path.starts_with('/') {
        true => json!({"uri": format!("file://{}", uri(path))}),
        false => json!({"uri": uri(path), "uriBaseId": "%SRCROOT%"}),
    };
    json!({
        "artifactLocation": location,
        "region": {"startLine": place.line.max(1), "startColumn": place.column.max(1)},
    })
}

/// A path as a relative reference (RFC 3986).
fn uri(path: &str) -> String {
    const ESCAPED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(path, ESCAPED).to_string()
}

#[test]
fn a_path_is_a_relative_reference() {
    assert_eq!(uri("src/a b:ü.rs"), "src/a%20b%3A%C3%BC.rs");
}
