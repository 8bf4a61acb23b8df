//! What Go's programs see in a text, we see in it: random documents, and what is known for trouble. And
//! what we write, they read back as the same: thousands of awkward strings, through kustomize's reader
//! of objects (`yaml.v3`) and that of its own files (`sigs.k8s.io/yaml`).
//!
//! `SEED` and `CASES` choose the random documents; `TEXTS` names a folder whose files are read besides,
//! as `TEXTS=… cargo test --test yaml -- --ignored --nocapture`.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stderr, reason = "what was tried is told, so that it can be tried again")]

mod author;
mod bad;
mod go;
#[path = "../differential/random.rs"]
mod random;
mod read;
#[path = "../support/mod.rs"]
mod support;

#[path = "../../crates/go-data/src/yaml/tricky.rs"]
mod tricky;

use std::{collections::BTreeSet, fs};

use go_data::yaml::{self, Map, Value, json};
use tricky::TRICKY;

#[test]
fn go_reads_every_string_back_as_itself() {
    let Some(kustomize) = support::tool("kustomize") else { return };
    let mut strings = strings();
    // These kustomize reads, and then cannot pass on.
    let lost = |it: &String| {
        it.contains(['\u{7f}', '\u{85}', '\u{2028}', '\u{fffe}'])
            || it.contains('\n') && it.contains('\t')
            || it == "<<"
    };
    strings.retain(|it| !lost(it));
    let map: Map<String, Value> = strings.iter().map(|it| (it.clone(), json!(it))).collect();
    let numbered: Map<String, Value> =
        strings.iter().enumerate().map(|(at, it)| (format!("k{at}"), json!(it))).collect();
    let object = json!({
        "apiVersion": "example.com/v1",
        "kind": "Any",
        "metadata": { "name": "x" },
        "spec": { "list": strings, "map": map, "deep": [[{ "list": strings, "map": map }]] },
    });
    let kustomization = json!({ "resources": ["any.yaml"], "commonAnnotations": &numbered });
    let dir = support::fresh("yaml/strings");
    fs::write(dir.join("any.yaml"), yaml::to_text(&object)).unwrap();
    fs::write(dir.join("kustomization.yaml"), yaml::to_text(&kustomization)).unwrap();

    let output = support::command(kustomize, &dir).args(["build", "."]).output().unwrap();
    assert!(output.status.success(), "{}", support::said(&output));
    let read = yaml::from_text(str::from_utf8(&output.stdout).unwrap(), yaml::Dialect::Kubernetes)
        .unwrap();
    for (at, text) in strings.iter().enumerate() {
        assert_eq!(read["spec"]["list"][at], *text, "an item, by yaml.v3");
        assert_eq!(read["spec"]["map"][text], *text, "a value, by yaml.v3");
    }
    assert_eq!(read["spec"], object["spec"]);
    for (key, text) in &numbered {
        assert_eq!(read["metadata"]["annotations"][key], *text, "by sigs.k8s.io/yaml");
    }
}

#[test]
fn every_string_reads_back_by_libyamls_descendant() {
    let strings = json!(strings());
    let read: Value = serde_yaml::from_str(&yaml::to_text(&strings)).unwrap();
    assert_eq!(read, strings);
}

/// Every short string of signs that mean something in YAML, and those that are known for trouble.
fn strings() -> Vec<String> {
    let mut res: BTreeSet<String> = TRICKY.iter().map(ToString::to_string).collect();
    let all: Vec<char> =
        " \n\t\r-:#'\"a1.e_+~!&*|>%@`{}[],?=<0xonyNY\\\u{85}\u{2028}é".chars().collect();
    let few: Vec<char> = " \n-:#'\"a1.e_+0x".chars().collect();
    for a in &all {
        res.insert(a.to_string());
        for b in &all {
            res.insert([a, b].into_iter().collect());
        }
    }
    for a in &few {
        for b in &few {
            for c in &few {
                res.insert([a, b, c].into_iter().collect());
            }
        }
    }
    res.into_iter().collect()
}
