//! The schema reader against kube itself: what `tests/schemas/` prints when it is compiled, and what we read in it.
//!
//! As data, and in the form of each number; every kind must be there on both sides.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

#[test]
fn every_kind_is_as_kube_prints_it() {
    let compiled = compiled();
    let ours = ours();
    let names = |it: &BTreeMap<String, Value>| it.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&ours), names(&compiled));
    assert!(75 < ours.len(), "{} kinds", ours.len());
    let different: Vec<_> = compiled
        .iter()
        .filter_map(|(name, expected)| {
            let found = &ours[name];
            // `1` and `1.0` are one number, and two texts.
            (*found != *expected).then(|| format!("{name}:{}", difference("", expected, found)))
        })
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// What the fixture prints when it runs.
fn compiled() -> BTreeMap<String, Value> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--locked"]).current_dir(fixture());
    let _alone = support::alone_in_target();
    let output = support::building(&mut command).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What `manifests` makes of the same files.
fn ours() -> BTreeMap<String, Value> {
    let project = tempfile::tempdir().unwrap();
    for file in walkdir::WalkDir::new(fixture()).into_iter().map(Result::unwrap) {
        let path = file.path().strip_prefix(fixture()).unwrap();
        if file.file_type().is_dir() && !path.starts_with("target") {
            fs::create_dir_all(project.path().join(path)).unwrap();
        } else if file.file_type().is_file() && !path.starts_with("target") {
            fs::copy(file.path(), project.path().join(path)).unwrap();
        }
    }
    let text = "domain: example.com\nlayout:\n- rust.operator-rs.io/v1\nprojectName: schemas\nversion: \"3\"\n";
    fs::write(project.path().join("PROJECT"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_operator-rs"))
        .arg("manifests")
        .current_dir(project.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut res = BTreeMap::new();
    for file in fs::read_dir(project.path().join("config/crd/bases")).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let value: Value = serde_yaml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        res.insert(name, value);
    }
    res
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas")
}

/// The first places where two values differ.
fn difference(at: &str, expected: &Value, found: &Value) -> String {
    match (expected, found) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
            keys.into_iter()
                .map(|key| match (one.get(key), other.get(key)) {
                    (Some(one), Some(other)) => difference(&format!("{at}.{key}"), one, other),
                    (one, other) => {
                        format!("\n  {at}.{key}: expected {one:?}, found {other:?}")
                    }
                })
                .collect()
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs
                .map(|(at_, (one, other))| difference(&format!("{at}[{at_}]"), one, other))
                .collect()
        }
        (one, other) if *one == *other => String::new(),
        (one, other) => format!("\n  {at}: expected {one}, found {other}"),
    }
}
