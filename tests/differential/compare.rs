//! Ours beside kube's, case by case, counted.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use crate::author::Case;
use crate::oracle::{self, Printed, Version};
use crate::support;

/// What we make of a case.
enum Read {
    Crd(Value),
    Refused(String),
}

#[derive(Default)]
pub struct Report {
    pub equal: usize,
    pub both_panic: usize,
    /// How often, by reason, with one case.
    pub refused: BTreeMap<String, (usize, usize)>,
    /// What does not compile, by what rustc says.
    pub uncompiled: BTreeMap<String, (usize, usize)>,
    pub different: Vec<String>,
}

/// Compiles the cases, reads them, and compares.
pub fn compare(folder: &str, version: &Version, cases: &[Case]) -> Report {
    let printed = oracle::printed(folder, version, cases);
    let mut res = Report::default();
    for case in cases {
        let note = |list: &mut BTreeMap<String, (usize, usize)>, why: String| {
            list.entry(why).or_insert((0, case.number)).0 += 1;
        };
        let expected = &printed[&case.number];
        if let Printed::Nothing(text) = expected {
            let first = text.lines().next().unwrap_or_default().to_owned();
            let all = || format!("{text}\n{}", source(case));
            note(&mut res.uncompiled, if cases.len() == 1 { all() } else { first });
            continue;
        }
        match (expected, read(folder, version, case)) {
            (Printed::Crd(expected), Read::Crd(found)) if *expected == found => res.equal += 1,
            (Printed::Crd(expected), Read::Crd(found)) => {
                let what = difference("", expected, &found);
                res.different.push(format!("k{}:{what}\n{}", case.number, source(case)));
            }
            (Printed::Panic(text), Read::Refused(said)) if tells(&said, text) => {
                res.both_panic += 1;
            }
            (Printed::Abort, Read::Refused(_)) => res.both_panic += 1,
            // To say that kube panics where it does not is wrong too.
            (Printed::Crd(_), Read::Refused(said)) if said.contains("so would `crd()`") => {
                let what = format!("expected a CRD\nfound {said}");
                res.different.push(format!("k{}: {what}\n{}", case.number, source(case)));
            }
            (_, Read::Refused(said)) if !said.contains("kube panics") => {
                note(&mut res.refused, reason(&said));
            }
            (expected, Read::Refused(said)) => {
                let what = format!("expected {expected:.300?}\nfound {said}");
                res.different.push(format!("k{}: {what}\n{}", case.number, source(case)));
            }
            (expected, Read::Crd(_)) => {
                let what = format!("expected {expected:?}, found a CRD");
                res.different.push(format!("k{}: {what}\n{}", case.number, source(case)));
            }
        }
    }
    res
}

/// Whether a message has this text; a long one may lack its middle. Of a property with two schemas, which kube prints as Rust
/// does, the message has the name.
fn tells(said: &str, text: &str) -> bool {
    let property =
        text.strip_prefix("Property \"").and_then(|it| it.split_once("\" has the schema "));
    if let Some((name, _)) = property {
        return said
            .contains(&format!("the property `{name}` has different schemas in subschemas"));
    }
    let letters: Vec<char> = text.chars().collect();
    let (Some(head), Some(tail)) = (letters.first_chunk::<200>(), letters.last_chunk::<200>())
    else {
        return said.contains(text);
    };
    let (head, tail) = (String::from_iter(head), String::from_iter(tail));
    let cut = said.split_once(" … ");
    said.contains(text)
        || cut.is_some_and(|(left, right)| left.contains(&head) && right.contains(&tail))
}

/// What `operator-rs` makes of one case alone.
fn read(folder: &str, version: &Version, case: &Case) -> Read {
    let dir = oracle::alone(&format!("{folder}-alone"), version, case);
    let output = support::operator_rs(&dir, "generate crds -p differential -o json");
    if !output.status.success() {
        return Read::Refused(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let mut all: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(all.len(), 1, "k{}: one CRD", case.number);
    Read::Crd(all.remove(0))
}

/// The first problem, without its place and its names.
fn reason(said: &str) -> String {
    let line = said
        .lines()
        .find(|it| it.contains(".rs:"))
        .unwrap_or_else(|| said.lines().next().unwrap_or_default());
    let text = line.split_once(".rs:").map_or(line, |it| it.1);
    let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' || c == ' ');
    let mut res = String::new();
    for (at, part) in text.split('`').enumerate() {
        res.push_str(if at % 2 == 0 { part } else { "`…`" });
    }
    res.chars().filter(|c| !c.is_ascii_digit()).take(140).collect()
}

/// All the source of a case.
pub fn source(case: &Case) -> String {
    case.files.iter().map(|(path, text)| format!("// {path}\n{text}\n")).collect()
}

/// The places where two values differ.
pub fn difference(at: &str, expected: &Value, found: &Value) -> String {
    match (expected, found) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
            keys.into_iter()
                .map(|key| match (one.get(key), other.get(key)) {
                    (Some(one), Some(other)) => difference(&format!("{at}.{key}"), one, other),
                    (one, other) => format!("\n  {at}.{key}: expected {one:?}, found {other:?}"),
                })
                .collect()
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs
                .map(|(index, (one, other))| difference(&format!("{at}[{index}]"), one, other))
                .collect()
        }
        (one, other) if *one == *other => String::new(),
        (one, other) => format!("\n  {at}: expected {one}, found {other}"),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |it: &BTreeMap<String, (usize, usize)>| it.values().map(|it| it.0).sum::<usize>();
        for it in self.different.iter().take(5) {
            writeln!(f, "{it}\n{}", "=".repeat(80))?;
        }
        for (title, list) in [("not compiled", &self.uncompiled), ("refused", &self.refused)] {
            let mut rows: Vec<_> = list.iter().collect();
            rows.sort_by_key(|it| std::cmp::Reverse(it.1.0));
            for (why, (count, first)) in rows {
                writeln!(f, "{title} {count:4}  {why} (k{first})")?;
            }
        }
        write!(
            f,
            "equal {}, both panic {}, refused {}, different {}, not compiled {}",
            self.equal,
            self.both_panic,
            sum(&self.refused),
            self.different.len(),
            sum(&self.uncompiled)
        )
    }
}
