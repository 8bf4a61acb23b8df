//! Objects for bundles, as people write them and as they slip: each case is a scaffolded project's objects
//! after some edits, of which each has a number of its own, so that a failing case can do without most.
//!
//! `BUNDLES=5000 BUNDLES_SEED=1 cargo test --features originals --test bundle random -- --nocapture` runs more of them.

use std::{collections::BTreeMap, env};

use serde_json::Value;

use super::{edits, objects, oracle};
use crate::support;

/// What both tools make of the same objects.
#[derive(Debug, PartialEq)]
enum Outcome {
    Equal,
    BothRefuse,
    /// With what ours says.
    RefusedByUs(String),
    /// With what theirs says.
    RefusedByThem(String),
    /// operator-sdk crashes, and ours does not matter.
    Crash,
    Different(String),
}

/// Why ours refuses what operator-sdk takes, by what it says.
const REASONS: &[(&str, &str)] = &[
    (
        "the bundle is not valid and was not written",
        "operator-sdk's own validators call its bundle invalid",
    ),
    ("and operator-sdk treats it as", "it gives the operator what the cluster would not"),
    ("selects the pods of no Deployment", "the CSV would name a Deployment that is not here"),
    ("has a URL, but OLM", "a CSV cannot say it"),
    ("occurs twice", "one of the two would replace the other in the namespace of OLM"),
    ("operator-sdk leaves out the role", "a binding would refer to nothing"),
    ("operator-sdk leaves the related image", "a cluster without the internet would not have it"),
    ("operator-sdk takes the rules", "it gives the operator the rights of another Role"),
    ("operator-sdk would use placeholders", "the CSV would be of nobody's"),
    ("found no base of the ClusterServiceVersion", "the CSV would be of nobody's"),
    (
        "beside `ClusterServiceVersion/",
        "operator-sdk takes the first, and leaves the other out in silence",
    ),
    ("is aggregated from other roles", "operator-sdk leaves its rules out in silence"),
    ("found no Deployment", "OLM has nothing to run"),
    ("are one field, given twice", "which of the two Go takes depends on what they hold"),
    ("operator-sdk leaves out", "it takes them for one object"),
    ("has no name that can be used as a file name", "operator-sdk writes a file that nobody finds"),
    ("API servers would refuse the samples", "OLM's console would offer them"),
    ("has `valueFrom`", "a bundle lists the image itself"),
];

#[test]
fn random_bundles_are_those_of_operator_sdk() {
    if support::tool("operator-sdk").is_none() {
        return;
    }
    let number = |name: &str, default: u64| {
        env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default)
    };
    let (count, first) = (number("BUNDLES", 60), number("BUNDLES_SEED", 1));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for seed in first..first + count {
        let edits = edits::of(seed);
        let outcome = judge(&edits);
        let kind = kind(&outcome);
        if kind.starts_with("FAILED") {
            let (edits, outcome) = shrunk(edits, outcome);
            let said = format!("seed {seed}, edits {edits:?}:\n{outcome:?}").replace("\\n", "\n");
            if env::var_os("BUNDLES").is_some() {
                eprintln!("{said}\n");
            }
            failures.push(said);
        }
        *counts.entry(kind).or_default() += 1;
    }
    eprintln!("{counts:#?}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n\n"));
}

fn kind(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Equal => "equal".to_owned(),
        Outcome::BothRefuse => "refused by both".to_owned(),
        Outcome::Crash => "operator-sdk crashes".to_owned(),
        Outcome::RefusedByUs(said) => match REASONS.iter().find(|it| said.contains(it.0)) {
            Some((fragment, _)) => format!("refused by us: {fragment}"),
            None => "FAILED: refused by us for no known reason".to_owned(),
        },
        Outcome::RefusedByThem(_) => "FAILED: refused by them".to_owned(),
        Outcome::Different(_) => "FAILED: different".to_owned(),
    }
}

fn judge(edits: &[u64]) -> Outcome {
    let mut objects = objects();
    edits.iter().for_each(|it| edits::apply(*it, &mut objects));
    let mut words = oracle::CHANNELS.to_vec();
    // As one more edit: some cases name further service accounts.
    let is_bound = |name: &&str| {
        let subjects = objects.iter().filter_map(|it| it["subjects"].as_array()).flatten();
        let mut accounts = subjects.filter(|it| it["kind"] == "ServiceAccount");
        accounts.any(|it| it["name"] == *name)
    };
    let extra: Vec<&str> = ["operand", "second", "default"].into_iter().filter(is_bound).collect();
    let extra = extra.join(",");
    if !extra.is_empty() && edits.iter().sum::<u64>() % 2 == 0 {
        words.extend(["--extra-service-accounts", &extra]);
    }
    let (dir, output) = super::bundle("random", &objects, &words);
    let text = super::stream(&objects);
    let Some((their_dir, their_output)) =
        oracle::run_with("random", "memcached-operator", &text, &words)
    else {
        return Outcome::Equal;
    };
    let [said, their_words] = [&output, &their_output].map(support::said);
    match (output.status.success(), their_output.status.success()) {
        _ if their_words.contains("goroutine 1 [running]") => Outcome::Crash,
        (false, false) => Outcome::BothRefuse,
        (false, true) => Outcome::RefusedByUs(said),
        (true, false) => Outcome::RefusedByThem(their_words),
        (true, true) => {
            let ours = oracle::made_in(&dir);
            let mut theirs = oracle::made_in(&their_dir);
            without_copies(&mut theirs.0);
            match oracle::difference(theirs, ours, &objects) {
                None => Outcome::Equal,
                Some(difference) => Outcome::Different(difference),
            }
        }
    }
}

/// What is there twice has two files with operator-sdk.
pub fn without_copies(theirs: &mut BTreeMap<String, Value>) {
    let all = theirs.clone();
    theirs.retain(|path, it| {
        let first = path.split_once("manifests/dup").and_then(|it| it.1.split_once('_'));
        first.and_then(|(_, name)| all.get(&format!("manifests/{name}"))) != Some(it)
    });
}

/// The fewest edits that fail in the same way.
fn shrunk(mut edits: Vec<u64>, mut outcome: Outcome) -> (Vec<u64>, Outcome) {
    let mut at = 0;
    while at < edits.len() && edits.len() > 1 {
        let mut fewer = edits.clone();
        fewer.remove(at);
        let other = judge(&fewer);
        if kind(&other) == kind(&outcome) {
            (edits, outcome) = (fewer, other);
        } else {
            at += 1;
        }
    }
    (edits, outcome)
}
