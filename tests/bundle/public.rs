//! Bundles of operators that others have published, beside operator-sdk.
//!
//! `BUNDLES_FROM=DIR cargo test --features originals --test bundle public -- --nocapture` reads every `*.yaml` in a directory: each is what
//! `kustomize build config/manifests` printed for one operator. Without the variable, the directory is this one, with
//! the one operator that the other tests change.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{documents, oracle, random::without_copies};
use crate::support;

#[test]
fn public_operators_have_the_bundle_of_operator_sdk() {
    if support::tool("operator-sdk").is_none() {
        return;
    }
    let folder = env::var_os("BUNDLES_FROM").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| support::home().join("tests/bundle"));
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the directory can be listed")
        .map(|it| it.expect("it can be listed").path())
        .filter(|it| it.extension().is_some_and(|it| it == "yaml"))
        .collect();
    files.sort();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for file in &files {
        let name = file.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let (kind, detail) = judge(file);
        eprintln!("{kind:<45} {name} {}", detail.lines().next().unwrap_or_default());
        *counts.entry(kind).or_default() += 1;
        if kind == DIFFERENT {
            failures.push(format!("{name}: {detail}"));
        }
    }
    eprintln!("{counts:#?}");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(counts.contains_key(EQUAL), "nothing was compared in `{}`", folder.display());
}

const EQUAL: &str = "equal";
const SAMPLES: &str = "equal, without invalid samples";
const DIFFERENT: &str = "DIFFERENT";

fn judge(file: &Path) -> (&'static str, String) {
    let text = fs::read_to_string(file).expect("it is a text");
    let objects = documents(&text);
    let (kind, detail) = compare(&text, &objects);
    // Ours refuses samples that the API server would refuse: the others are compared without any.
    let names = |it: &Value| json!([it["spec"]["group"], it["spec"]["names"]["kind"]]);
    let kinds: Vec<Value> =
        objects.iter().filter(|it| !it["spec"]["names"].is_null()).map(names).collect();
    let is_sample = |it: &&Value| {
        let group = it["apiVersion"].as_str().and_then(|it| it.split_once('/'));
        group.is_some_and(|(group, _)| kinds.contains(&json!([group, it["kind"]])))
    };
    if kind != REFUSED || !objects.iter().any(|it| is_sample(&it)) {
        return (kind, detail);
    }
    let others: Vec<Value> = objects.iter().filter(|it| !is_sample(it)).cloned().collect();
    match compare(&super::stream(&others), &others) {
        (EQUAL, _) => (SAMPLES, detail),
        other => other,
    }
}

const REFUSED: &str = "refused by us";

fn compare(text: &str, objects: &[Value]) -> (&'static str, String) {
    let base = objects.iter().find(|it| it["kind"] == "ClusterServiceVersion");
    let name = base.and_then(|it| it["metadata"]["name"].as_str()).unwrap_or_default();
    let Some((package, _)) = name.split_once(".v") else {
        return ("without a base", String::new());
    };
    let dir = support::fresh("public");
    super::project(&dir);
    fs::write(dir.join("objects.yaml"), text).expect("the folder is ours");
    let words = ["bundle", "--input", "objects.yaml", "--package", package];
    let output = support::command(support::BINARY, &dir).args(words).output().expect("it starts");
    let Some((their_dir, their_output)) = oracle::run_with("public", package, text, &[]) else {
        return ("without operator-sdk", String::new());
    };
    let [said, their_words] = [&output, &their_output].map(support::said);
    match (output.status.success(), their_output.status.success()) {
        (false, false) => ("refused by both", said),
        (false, true) => (REFUSED, said),
        (true, false) => (DIFFERENT, format!("operator-sdk refuses it: {their_words}")),
        (true, true) => {
            let (mut theirs, ours) = (oracle::made_in(&their_dir), oracle::made_in(&dir));
            without_copies(&mut theirs.0);
            match oracle::difference_of(package, theirs, ours, objects) {
                None => (EQUAL, String::new()),
                Some(difference) => (DIFFERENT, difference),
            }
        }
    }
}
