//! SARIF 2.1.0, as code scanning takes it up.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Finding, SourceSpan};
use diagnostics::RuleInfo;
use go_data::yaml::{Value, json};

/// Returns the findings of one run, and the rules that it knows.
pub fn sarif<G>(rules: &[&RuleInfo<G>], findings: &[&Finding]) -> Value {
    let index = |id: &str| rules.iter().position(|rule| rule.id == id);
    let results: Vec<Value> =
        findings.iter().map(|finding| result_object(finding, index(finding.rule))).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "operator-rs",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|info| rule_object(info)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule_object<G>(rule: &RuleInfo<G>) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.severity.name()},
    })
}

fn result_object(it: &Finding, index: Option<usize>) -> Value {
    let at = it.declaration().filter(|declaration| declaration.revision.is_some());
    let at = at.map(|place| format!(" It was at {place}.")).unwrap_or_default();
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
    if let Some(place) = it.place.as_ref().filter(|place| place.revision.is_none()) {
        location["physicalLocation"] = physical_location(place);
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

fn physical_location(place: &SourceSpan) -> Value {
    let path = &place.path;
    let location = if path.starts_with('/') {
        json!({"uri": format!("file://{}", to_uri(path))})
    } else {
        json!({"uri": to_uri(path), "uriBaseId": "%SRCROOT%"})
    };
    json!({
        "artifactLocation": location,
        "region": {"startLine": place.line.max(1), "startColumn": place.column.max(1)},
    })
}

/// Returns a path as a relative reference (RFC 3986).
fn to_uri(path: &str) -> String {
    const ESCAPED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(path, ESCAPED).to_string()
}

#[test]
fn a_path_is_a_relative_reference() {
    assert_eq!(to_uri("src/a b:ü.rs"), "src/a%20b%3A%C3%BC.rs");
}
