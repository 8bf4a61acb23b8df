//! Shared by the reports of findings: SARIF 2.1.0, in the form that code scanning accepts, and a few phrases.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::terminal;
use diagnostics::{Diagnostic, Severity};
use go_data::yaml::{Value, json};

/// How many findings are listed for people; formats for programs have all of them.
pub const MOST: usize = 200;

/// The annotations of the first findings, and how many more there are.
pub fn annotations(all: impl Iterator<Item = String>) -> String {
    let mut all = all;
    let mut res: String = all.by_ref().take(MOST).collect();
    match all.count() {
        0 => {}
        more => {
            let text = format!("and {more} more findings; `--output json` lists them");
            res += &terminal::github("notice", &[], &text);
        }
    }
    res
}

/// A finding as a message, for `--message-format`.
pub fn diagnostic(
    rule: &'static str,
    message: &str,
    remedy: &str,
    place: Option<(&str, usize, usize)>,
) -> Diagnostic {
    let mut res = match place {
        Some((path, line, column)) => Diagnostic::in_file(path, message).at(line, column),
        None => Diagnostic::from(message),
    };
    res.code = Some(rule);
    res.hints.extend(Some(remedy.to_owned()).filter(|it| !it.is_empty()));
    res
}

/// The results of one run in SARIF.
pub fn sarif(rules: Vec<Value>, results: Vec<Value>) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "operator-rs",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A rule in SARIF.
pub fn rule(name: &str, summary: &str, severity: Severity) -> Value {
    json!({
        "id": name,
        "shortDescription": {"text": summary},
        "defaultConfiguration": {"level": severity.name()},
    })
}

/// A place in SARIF.
pub fn physical(path: &str, line: usize, column: usize) -> Value {
    let location = match path.starts_with('/') {
        true => json!({"uri": format!("file://{}", uri(path))}),
        false => json!({"uri": uri(path), "uriBaseId": "%SRCROOT%"}),
    };
    json!({
        "artifactLocation": location,
        "region": {"startLine": line, "startColumn": column},
    })
}

/// A path as a relative reference (RFC 3986).
fn uri(path: &str) -> String {
    const ESCAPED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(path, ESCAPED).to_string()
}

/// `1 warning`, `2 warnings`
pub fn count(many: usize, what: &str) -> String {
    match many {
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    }
}

/// The beginning of a text that is too long to read.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 300;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[test]
fn a_path_is_a_relative_reference() {
    assert_eq!(uri("src/a b:ü.rs"), "src/a%20b%3A%C3%BC.rs");
}
