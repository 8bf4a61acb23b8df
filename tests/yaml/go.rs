//! What Go's readers see in texts, by the program `go-yaml`, and how ours compares.

use std::{
    collections::BTreeMap,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use serde::Deserialize;

use crate::yaml::{self, Dialect, Value};

#[derive(Clone, Debug, Deserialize)]
pub struct Answer {
    documents: Option<Vec<Value>>,
    #[serde(default)]
    error: String,
}

/// The readers that `go-yaml` asks, by their names there.
pub const READERS: [&str; 5] = ["kubernetes", "whole", "first", "strict", "kustomize"];

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Equal,
    BothRefuse,
    /// What we say.
    OnlyWeRefuse(String),
    /// What they say.
    OnlyTheyRefuse(String),
    Different(String),
}

impl Verdict {
    pub const fn is_wrong(&self) -> bool {
        matches!(self, Self::Different(_) | Self::OnlyTheyRefuse(_))
    }
}

/// What each reader says of each text, beside what we say.
pub fn compare(tool: &Path, texts: &[String]) -> Vec<BTreeMap<&'static str, Verdict>> {
    let answers = ask(tool, texts);
    assert_eq!(answers.len(), texts.len(), "each text has an answer");
    let of = |text: &String, answers: BTreeMap<String, Answer>| {
        READERS
            .iter()
            .map(|it| (*it, verdict(text, it, &answers[if *it == "first" { "whole" } else { it }])))
            .collect()
    };
    texts.iter().zip(answers).map(|(text, answers)| of(text, answers)).collect()
}

fn ask(tool: &Path, texts: &[String]) -> Vec<BTreeMap<String, Answer>> {
    let mut child = Command::new(tool)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("go-yaml can be started");
    let lines: String = texts.iter().map(|it| format!("{}\n", Value::from(it.as_str()))).collect();
    let mut stdin = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()));
    let output = child.wait_with_output().expect("go-yaml runs");
    writer.join().expect("it does not panic").expect("go-yaml reads all");
    let output = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    output.lines().map(|it| serde_json::from_str(it).expect("an answer")).collect()
}

fn verdict(text: &str, reader: &str, theirs: &Answer) -> Verdict {
    let ours = match reader {
        "kubernetes" => yaml::parse_documents(text, Dialect::Kubernetes),
        "kustomize" => yaml::parse_documents(text, Dialect::Kustomize),
        "whole" => yaml::from_text(text, Dialect::Kubernetes).map(one),
        "first" => yaml::parse_first_document(text).map(one).map_err(Into::into),
        _ => yaml::from_text(text, Dialect::Strict).map(one),
    };
    match (ours, &theirs.documents) {
        (Err(_), None) => Verdict::BothRefuse,
        (Err(ours), Some(_)) => Verdict::OnlyWeRefuse(ours.to_string()),
        // These kustomize's reader refuses for being no objects, and ours leaves that to the caller.
        (Ok(ours), None) if reader == "kustomize" && !ours.iter().all(Value::is_object) => {
            Verdict::BothRefuse
        }
        (Ok(_), None) => Verdict::OnlyTheyRefuse(theirs.error.clone()),
        (Ok(ours), Some(theirs)) => {
            let (ours, theirs) = (Value::from(ours), Value::from(theirs.clone()));
            if is_same(&ours, &theirs, reader == "kustomize") {
                return Verdict::Equal;
            }
            let (at, ours, theirs) = yaml::first_difference(&ours, &theirs);
            Verdict::Different(format!("{at}: ours {ours}, theirs {theirs}"))
        }
    }
}

/// Equal, but for the last digit of a number that `serde_json` reads in a hurry, and for the fraction
/// of whole numbers, which Go's JSON does not have.
fn is_same(ours: &Value, theirs: &Value, is_exact: bool) -> bool {
    match (ours, theirs) {
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(a, b)| is_same(a, b, is_exact))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().all(|(key, it)| {
                    theirs.get(key).is_some_and(|other| is_same(it, other, is_exact))
                })
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            match (a.as_f64(), b.as_f64()) {
                // Only kustomize's own values are what JSON makes of a number.
                _ if is_exact && a.is_f64() != b.is_f64() => a.as_f64() == Some(0.0),
                (Some(a), Some(b)) => (a - b).abs() <= a.abs() * 1e-15,
                _ => false,
            }
        }
        _ => ours == theirs,
    }
}

fn one(document: Value) -> Vec<Value> {
    if document.is_null() { Vec::new() } else { vec![document] }
}

/// The least text that is still wrong: without any of its lines, words or signs it is right.
pub fn shrink(tool: &Path, text: &str, reader: &'static str) -> String {
    let mut res = text.to_owned();
    let mut size = res.chars().count();
    while size > 0 {
        let signs: Vec<char> = res.chars().collect();
        let less = |start: usize| {
            let end = (start + size).min(signs.len());
            signs[..start].iter().chain(&signs[end..]).collect::<String>()
        };
        let candidates: Vec<String> =
            (0..signs.len()).step_by(size.div_ceil(2)).map(less).collect();
        let verdicts = compare(tool, &candidates);
        let found = verdicts.iter().position(|it| it[reader].is_wrong());
        match found {
            Some(at) => res.clone_from(&candidates[at]),
            None => size /= 2,
        }
        size = size.min(res.chars().count());
    }
    res
}
