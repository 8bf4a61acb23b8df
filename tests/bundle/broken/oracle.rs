//! Verdicts on bundles: those of operator-sdk's modules, and ours.

use std::{io::Write as _, path::Path, process::Stdio};

use serde_json::{Value, json};

use super::known;
use crate::support;

pub struct Verdict {
    pub passed: bool,
    /// Sorted.
    pub messages: Vec<String>,
}

/// What the program `verdicts` says of these folders; nothing where it is not there.
pub fn theirs(dir: &Path, names: &[String], select: &str) -> Option<Vec<Verdict>> {
    let tool = support::tool("verdicts")?;
    let mut child = support::command(tool, dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the oracle starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let lines: String =
        names.iter().map(|it| format!("{}\n", json!({ "dir": it, "select": select }))).collect();
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("the oracle ends");
    writer.join().expect("the lines are written").expect("the oracle reads");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let res: Vec<Verdict> = text.lines().map(verdict).collect();
    assert_eq!(res.len(), names.len(), "the oracle gives one verdict a bundle");
    Some(res)
}

fn verdict(line: &str) -> Verdict {
    let report: Value = serde_json::from_str(line).expect("a verdict is JSON");
    let fatal = report["fatal"].as_str().unwrap_or_default();
    if !fatal.is_empty() {
        return Verdict { passed: false, messages: vec![format!("error {fatal}")] };
    }
    let mut messages = messages(&report["outputs"]);
    messages.sort();
    Verdict { passed: messages.iter().all(|it| !it.starts_with("error ")), messages }
}

pub fn messages(outputs: &Value) -> Vec<String> {
    let list = outputs.as_array().map_or(&[][..], Vec::as_slice);
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    list.iter().map(|it| format!("{} {}", text(it, "type"), text(it, "message"))).collect()
}

pub fn ours(dir: &Path, name: &str, select: &str) -> Verdict {
    let output = support::command(support::BINARY, dir)
        .args(["bundle", "validate", name, "-o", "json", "--select-optional", select])
        .output()
        .expect("the binary starts");
    let said = support::said(&output);
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no report: {said}"));
    assert_eq!(report["valid"], output.status.success(), "{said}");
    let findings = report["findings"].as_array().expect("findings are a list");
    // Of our own rules, `rules.rs` tells.
    let theirs = findings.iter().filter(|it| it["origin"] == "operator-sdk");
    let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let mut messages: Vec<String> = theirs
        .map(|it| format!("{} {}: {}", text(it, "severity"), text(it, "rule"), text(it, "message")))
        .collect();
    messages.sort();
    Verdict { passed: messages.iter().all(|it| !it.starts_with("error ")), messages }
}

impl Verdict {
    /// Who alone finds the bundle good or worth a warning, and why.
    pub fn difference(&self, ours: &Self) -> Option<String> {
        let difference =
            if self.passed == ours.passed { self.warning(ours)? } else { self.error(ours) };
        Some(difference).filter(|it| !known::is_known(it))
    }

    fn error(&self, ours: &Self) -> String {
        let (whose, messages) = if ours.passed {
            ("good by us alone", &self.messages)
        } else {
            ("bad by us alone", &ours.messages)
        };
        let error = messages.iter().find(|it| it.starts_with("error ")).map_or("?", String::as_str);
        format!("{whose}: {}", error.chars().take(200).collect::<String>())
    }

    /// A warning of one alone, where both find the bundle good.
    fn warning(&self, ours: &Self) -> Option<String> {
        if !self.passed {
            return None;
        }
        let (theirs, ours) = (self.messages.first(), ours.messages.first());
        match (theirs, ours) {
            (Some(it), None) => Some(format!("a warning of theirs alone: {it}")),
            (None, Some(it)) => Some(format!("a warning of ours alone: {it}")),
            _ => None,
        }
    }
}
