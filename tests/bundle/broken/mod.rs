//! Good bundles, broken by chance: operator-sdk and we have to give the same verdict on each, with and without
//! the optional validators. Its verdicts come from `verdicts`, which judges many bundles in one run.
//!
//! `SEED` and `CASES` choose other bundles, and more of them.

mod breaks;
mod facts;
mod known;
pub mod oracle;

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::{Value, json};

use super::{made, objects, random_numbers::Random};
use crate::support;
use breaks::Break;

/// Some of a bundle's files are data, which is written as YAML; others are bytes.
#[derive(Clone)]
enum File {
    Data(Value),
    Bytes(Vec<u8>),
}
type Files = BTreeMap<String, File>;

const SUITE: &str = "suite=operatorframework";
const ALL: &str = "name notin (multiarch,community)";

#[test]
fn broken_bundles_get_the_same_verdict() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |it| it.parse().expect("a number"))
    };
    let (seed, cases) = (number("SEED", 1), number("CASES", 150));
    eprintln!("SEED={seed} CASES={cases}");
    let mut bundles = Vec::new();
    for case in 0..cases {
        let mut random = Random::of(seed, &case.to_string());
        let breaks: Vec<Break> =
            (0..=random.below(3)).map(|_| Break::random(&mut random)).collect();
        bundles.push(breaks);
    }
    compare("broken", &bundles);
}

#[test]
#[ignore = "by hand: some hundred bundles, each with one known fault"]
fn bundles_with_one_fault_get_the_same_verdict() {
    compare("broken-once", &Break::all().into_iter().map(|it| vec![it]).collect::<Vec<_>>());
}

fn compare(name: &str, bundles: &[Vec<Break>]) {
    let good = good(&format!("{name}-good"));
    let Some(verdicts) = judged(&good, name, bundles) else { return };
    let mut classes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut counts = [0; 2];
    for (breaks, (theirs, ours)) in bundles.iter().zip(verdicts) {
        counts[usize::from(theirs.passed)] += 1;
        if let Some(difference) = theirs.difference(&ours) {
            let small = shrunk(&good, breaks, &difference);
            let names: Vec<String> = small.iter().map(ToString::to_string).collect();
            classes.entry(difference).or_default().push(names.join(" + "));
        }
    }
    let [bad, fine] = counts;
    eprintln!("{fine} good, {bad} bad");
    for (difference, bundles) in &classes {
        eprintln!("== {} of {difference}", bundles.len());
        bundles.iter().take(12).for_each(|it| eprintln!("     {it}"));
    }
    assert!(classes.is_empty(), "{} kinds of differences", classes.len());
    assert!(bundles.len() / 10 < fine.min(bad), "{fine} good, {bad} bad: too few of one");
}

/// The oracle is what operator-sdk itself would say.
#[test]
fn the_oracle_agrees_with_operator_sdk() {
    let Some(sdk) = support::tool("operator-sdk") else { return };
    let good = good("broken-sample-good");
    for case in 0..8 {
        let mut random = Random::new(case);
        let breaks = [Break::random(&mut random)];
        let dir = support::fresh("broken-sample");
        put(&good, &breaks, &dir.join("bundle"));
        let Some(theirs) = oracle::theirs(&dir, &["bundle".to_owned()], SUITE) else { return };
        let output = support::command(&sdk, &dir)
            .args(["bundle", "validate", "bundle", "--select-optional", SUITE, "-o", "json-alpha1"])
            .output()
            .expect("operator-sdk starts");
        assert_eq!(
            output.status.success(),
            theirs[0].passed,
            "{}: {}",
            breaks[0],
            support::said(&output)
        );
        // Where it gives up, it prints no report.
        if let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) {
            // Several annotations are named in any order.
            let short = |it: String| it.split(": Missing").next().unwrap_or_default().to_owned();
            let mut messages = oracle::messages(&report["outputs"]);
            messages.sort();
            let all: [Vec<String>; 2] = [messages, theirs[0].messages.clone()]
                .map(|it| it.into_iter().map(short).collect());
            assert_eq!(all[0], all[1], "{}", breaks[0]);
        }
    }
}

fn good(name: &str) -> Files {
    let files = made(name, &objects(), &[]);
    let mut res: Files = files.into_iter().map(|(path, it)| (path, File::Data(it))).collect();
    let dependencies = json!({ "dependencies": [
        { "type": "olm.package", "value": { "packageName": "other", "version": ">=1.0.0 <2.0.0" } },
        { "type": "olm.gvk", "value": { "group": "example.com", "kind": "Other", "version": "v1" } },
        { "type": "olm.label", "value": { "label": "a" } },
        { "type": "olm.constraint", "value": { "failureMessage": "a", "cel": { "rule": "properties.exists(p, p.type == 'a')" } } },
    ]});
    res.insert("metadata/dependencies.yaml".to_owned(), File::Data(dependencies));
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "labels": { "a": "b" }, "annotations": { "a": "b" } }, "data": { "a": "b" } });
    res.insert("manifests/map.yaml".to_owned(), File::Data(map));
    res
}

type Verdicts = Vec<(oracle::Verdict, oracle::Verdict)>;

/// Both verdicts on each of these bundles.
fn judged(good: &Files, name: &str, bundles: &[Vec<Break>]) -> Option<Verdicts> {
    let dir = support::fresh(name);
    let names: Vec<String> = (0..bundles.len()).map(|it| format!("bundle-{it}")).collect();
    for (name, breaks) in names.iter().zip(bundles) {
        put(good, breaks, &dir.join(name));
    }
    // One in three with all validators, one in three with the suite.
    let select = |at: usize| ["", SUITE, ALL][at % 3];
    let mut theirs: Vec<Option<oracle::Verdict>> = names.iter().map(|_| None).collect();
    for start in 0..3 {
        let some: Vec<String> = names.iter().skip(start).step_by(3).cloned().collect();
        for (at, it) in oracle::theirs(&dir, &some, select(start))?.into_iter().enumerate() {
            theirs[start + 3 * at] = Some(it);
        }
    }
    let res = theirs.into_iter().enumerate().map(|(at, theirs)| {
        let theirs = theirs.expect("one verdict a bundle");
        (theirs, oracle::ours(&dir, &names[at], select(at)))
    });
    Some(res.collect())
}

/// As few of these breaks as show the same difference.
fn shrunk(good: &Files, breaks: &[Break], difference: &str) -> Vec<Break> {
    let mut res = breaks.to_vec();
    for at in (0..breaks.len()).rev().filter(|_| 1 < breaks.len()) {
        let mut fewer = res.clone();
        fewer.remove(at);
        if fewer.is_empty() {
            continue;
        }
        let three = vec![fewer.clone(); 3];
        let verdicts = judged(good, "broken-smaller", &three).unwrap_or_default();
        if verdicts
            .iter()
            .any(|(theirs, ours)| theirs.difference(ours).as_deref() == Some(difference))
        {
            res = fewer;
        }
    }
    res
}

fn put(good: &Files, breaks: &[Break], dir: &Path) {
    let mut files = good.clone();
    breaks.iter().for_each(|it| it.apply(&mut files));
    for (path, file) in files {
        let bytes = match file {
            File::Data(data) => breaks::text(&data).into_bytes(),
            File::Bytes(bytes) => bytes,
        };
        let path = dir.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder"))
            .expect("the folder is ours");
        fs::write(path, bytes).expect("the folder is ours");
    }
}
