//! `crds diff` beside crdify itself: the same verdicts, rules and fields, with crdify's defaults and with OLM's.
//!
//! `SEED` and `CASES` choose the random pairs; `PAIRS` names a folder of pairs (`*/old.yaml`, `*/new.yaml`) that are
//! compared besides, as `PAIRS=… cargo test --features originals --test crdify -- --ignored --nocapture`.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stderr, reason = "what was tried is told, so that it can be tried again")]

mod author;
#[path = "../hostile/random.rs"]
mod random;
#[path = "../support/mod.rs"]
mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;

/// A rule, the version or versions, and the field.
type Findings = BTreeSet<(String, String, String)>;

/// Our policies; OLM v1's is the one of crdify's that is called `olm`.
const POLICIES: [&str; 2] = ["crdify", "olmv1"];

/// The rules of ours that crdify does not have.
const OURS: [&str; 8] = [
    "crdRemoval",
    "allServedVersionsRemoval",
    "storageVersionRemoval",
    "storageVersionFields",
    "declaredField",
    "immutable",
    "unknownFields",
    "invalid",
];

#[test]
fn crdifys_own_test_data() {
    let Some(data) = data() else { return };
    let mut pairs = Vec::new();
    for entry in fs::read_dir(data.join("test")).expect("it can be listed") {
        let folder = entry.expect("it can be listed").path();
        pairs.push((folder.join("a.yaml"), folder.join("b.yaml")));
    }
    let base = data.join("examples/base-crd.yaml");
    for entry in fs::read_dir(data.join("examples")).expect("it can be listed") {
        let path = entry.expect("it can be listed").path();
        if path.file_name().is_some_and(|it| it != "config.yaml" && it != "base-crd.yaml") {
            pairs.push((base.clone(), path.clone()));
            pairs.push((path, base.clone()));
        }
    }
    assert!(30 < pairs.len(), "crdify's test data is incomplete: {} pairs", pairs.len());
    for (old, new) in pairs {
        let differences = differences(&old, &new);
        assert_eq!(differences, Vec::<String>::new(), "{} and {}", old.display(), new.display());
    }
}

#[test]
fn random_changes() {
    if support::tool("crdify").is_none() {
        return;
    }
    let (seed, cases) = (number("SEED", 1), number("CASES", 400));
    eprintln!("SEED={seed} CASES={cases}");
    let dir = support::fresh(&format!("crdify-{seed}"));
    let (mut old, mut new) = (String::new(), String::new());
    for case in 0..cases {
        let (one, other) = author::pair(seed, case);
        old += &format!("---\n{one}\n");
        new += &format!("---\n{other}\n");
    }
    let [before, after] = ["old.yaml", "new.yaml"].map(|it| dir.join(it));
    fs::write(&before, old).expect("target/tmp can be written");
    fs::write(&after, new).expect("target/tmp can be written");
    let differences = differences(&before, &after);
    assert_eq!(differences, Vec::<String>::new(), "SEED={seed} in {}", dir.display());
    let found: usize = ours("crdify", &before, &after).values().map(BTreeSet::len).sum();
    assert!(u64::try_from(found).is_ok_and(|it| cases < it), "{found} findings are too few");
}

#[test]
#[ignore = "by hand: PAIRS names a folder of pairs of CRD files"]
fn pairs_of_public_crds() {
    let folder = PathBuf::from(env::var_os("PAIRS").expect("PAIRS names a folder"));
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("it can be listed").map(|it| it.unwrap().path()).collect();
    entries.sort();
    let (mut equal, mut other) = (0, 0);
    for pair in entries {
        match differences(&pair.join("old.yaml"), &pair.join("new.yaml")) {
            it if it.is_empty() => equal += 1,
            it => {
                other += 1;
                eprintln!("{}:\n  {}", pair.display(), it.join("\n  "));
            }
        }
    }
    eprintln!("{equal} pairs equal, {other} different");
    assert!(0 < equal && other == 0, "{other} pairs differ");
}

/// What the two tools say differently of two files, by either policy.
fn differences(old: &Path, new: &Path) -> Vec<String> {
    let mut res = Vec::new();
    for policy in POLICIES {
        let (theirs, ours) = (theirs(policy, old, new), ours(policy, old, new));
        for (name, (theirs, masked)) in theirs {
            let mut ours = ours.get(&name).cloned().unwrap_or_default();
            // crdify takes a change for an earlier one where its shortened diffs look the same.
            ours.retain(|it| theirs.contains(it) || !masked.contains(it));
            let mut tell = |who: &str, it: &(String, String, String)| {
                res.push(format!("{policy}, {name}: only {who}: {} {} {}", it.0, it.1, it.2));
            };
            theirs.difference(&ours).for_each(|it| tell("crdify", it));
            ours.difference(&theirs).for_each(|it| tell("ours", it));
        }
    }
    res
}

/// What crdify finds, by CRD, and what it leaves out as it cannot tell it from what was there before.
fn theirs(policy: &str, old: &Path, new: &Path) -> BTreeMap<String, (Findings, Findings)> {
    let tool = support::tool("crdify").expect("it already existed");
    let output = support::command(tool, Path::new("."))
        .args([Path::new(policy.trim_end_matches("v1")), old, new])
        .output()
        .expect("crdify starts");
    assert!(output.status.success(), "{}", support::said(&output));
    let mut res = BTreeMap::new();
    for line in String::from_utf8(output.stdout).expect("it is JSON").lines() {
        let answer: Value = serde_json::from_str(line).expect("it is JSON");
        let list = |key: &str| -> Findings {
            answer[key].as_array().into_iter().flatten().map(finding).collect()
        };
        res.insert(text(&answer["crd"]), (list("findings"), list("masked")));
    }
    res
}

/// What `crds diff` finds, by CRD, without what crdify does not judge.
fn ours(policy: &str, old: &Path, new: &Path) -> BTreeMap<String, Findings> {
    let output = diff(policy, old, new);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{} {}: {}", old.display(), new.display(), support::said(&output))
    });
    let breaking = report["compatible"] == false;
    assert_eq!(output.status.code(), Some(i32::from(breaking)), "{}", support::said(&output));
    let mut res: BTreeMap<String, Findings> = BTreeMap::new();
    for it in report["findings"].as_array().into_iter().flatten() {
        if it["severity"] == "error" && !OURS.contains(&text(&it["rule"]).as_str()) {
            res.entry(text(&it["crd"])).or_default().insert(finding(it));
        }
    }
    res
}

fn diff(policy: &str, old: &Path, new: &Path) -> Output {
    support::command(support::BINARY, Path::new("."))
        .args(["crds", "diff", "--output", "json", "--policy", policy])
        .args([old, Path::new("--to"), new])
        .output()
        .expect("the binary starts")
}

fn finding(it: &Value) -> (String, String, String) {
    (text(&it["rule"]), text(&it["version"]), text(&it["field"]))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// crdify's own tests, which its build brings along.
fn data() -> Option<PathBuf> {
    let tool = support::tool("crdify")?;
    Some(tool.with_file_name("crdify-data"))
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().map_or(default, |it| it.parse().expect("it is a number"))
}
