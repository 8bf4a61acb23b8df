//! Bundles beside the real tools: what `operator-sdk generate bundle` makes of the same objects, what
//! its validators and operator-framework's say of ours, and what is refused.
//!
//! `memcached.yaml` is what `kustomize build config/manifests` gave for a scaffolded project; each test
//! changes it a little.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stderr, reason = "a run by hand shows its counts")]

#[path = "../support/mod.rs"]
mod support;

mod broken;
mod diff;
mod digests;
mod edits;
mod formats;
mod lost;
mod odd;
mod oracle;
mod others;
mod public;
mod random;
#[path = "../hostile/random.rs"]
mod random_numbers;
mod refused;
#[path = "../images/registry.rs"]
mod registry;
mod rules;
mod same;
mod scaffolded;
mod scorecards;
mod shipped;
mod typed;
mod valid;
mod verdicts;

use std::{collections::BTreeMap, fs, path::Path, process::Output};

use serde_json::Value;

/// What a scaffolded project renders to.
fn objects() -> Vec<Value> {
    documents(include_str!("memcached.yaml"))
}

fn documents(text: &str) -> Vec<Value> {
    use serde::Deserialize as _;
    serde_yaml::Deserializer::from_str(text)
        .map(|it| Value::deserialize(it).expect("the text is YAML"))
        .filter(|it| !it.is_null())
        .collect()
}

/// As a stream of YAML documents: JSON is YAML too. The comment is for operator-sdk, which forgets a document
/// that begins as JSON does, where the 512 bytes of its reads end before its last line.
fn stream(objects: &[Value]) -> String {
    objects.iter().map(|it| format!("---\n# YAML\n{it}\n")).collect()
}

/// A project that needs no source, for its objects are given.
fn project(dir: &Path) {
    fs::write(
        dir.join("PROJECT"),
        "domain: example.com\nlayout:\n- rust.operator-rs.io/v1\nprojectName: memcached-operator\nresources:\n- api:\n    crdVersion: v1\n    \
         namespaced: true\n  domain: example.com\n  group: cache\n  kind: Memcached\n  version: v1alpha1\nversion: \"3\"\n",
    )
    .expect("the folder is ours");
    fs::write(
        dir.join("Cargo.toml"),
        "[package]\nname = \"memcached-operator\"\nversion = \"0.0.1\"\n",
    )
    .expect("the folder is ours");
}

/// Runs `operator-rs bundle` on these objects, in a folder of this name.
fn bundle(name: &str, objects: &[Value], words: &[&str]) -> (std::path::PathBuf, Output) {
    let dir = support::fresh(name);
    project(&dir);
    fs::write(dir.join("objects.yaml"), stream(objects)).expect("the folder is ours");
    let output = support::command(support::BINARY, &dir)
        .args(["bundle", "--input", "objects.yaml"])
        .args(words)
        .output()
        .expect("the binary starts");
    (dir, output)
}

/// Runs `bundle`, which must succeed, and returns the bundle's files as data, by their paths in it.
fn made(name: &str, objects: &[Value], words: &[&str]) -> BTreeMap<String, Value> {
    let (dir, output) = bundle(name, objects, words);
    assert!(output.status.success(), "{name}: {}", support::said(&output));
    files(&dir.join("bundle"))
}

fn files(bundle: &Path) -> BTreeMap<String, Value> {
    let file = |(path, bytes): (String, Vec<u8>)| {
        let text = String::from_utf8(bytes).expect("a bundle's files are text");
        let mut documents = documents(&text);
        assert_eq!(documents.len(), 1, "{path} holds one object");
        (path, documents.remove(0))
    };
    support::tree(bundle).into_iter().map(file).collect()
}

const CSV: &str = "manifests/memcached-operator.clusterserviceversion.yaml";

/// The object of this kind whose name ends so.
fn object<'a>(objects: &'a mut [Value], kind: &str, end: &str) -> &'a mut Value {
    let is = |it: &&mut Value| {
        it["kind"] == kind && it["metadata"]["name"].as_str().unwrap_or_default().ends_with(end)
    };
    objects.iter_mut().find(is).unwrap_or_else(|| panic!("no {kind} `…{end}`"))
}
