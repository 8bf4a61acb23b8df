//! operator-sdk's own bundle of some objects, beside ours, without what is known to differ.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use super::{CSV, files, made, stream};
use crate::support;

/// What `operator-sdk generate bundle` says of these objects, in a folder of its own.
pub fn run(name: &str, objects: &[Value]) -> Option<(PathBuf, Output)> {
    let sdk = support::tool("operator-sdk")?;
    let dir = support::fresh(&format!("{name}-sdk"));
    let mut child = support::command(sdk, &dir)
        .args(["generate", "bundle", "--package", "memcached-operator", "--version", "0.0.1"])
        .args(CHANNELS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("operator-sdk starts");
    let text = stream(objects);
    let mut stdin = child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut stdin, text.as_bytes()).expect("operator-sdk reads");
    drop(stdin);
    Some((dir, child.wait_with_output().expect("operator-sdk ends")))
}

/// What it makes of them, with its Dockerfile; it must make something.
pub fn theirs(name: &str, objects: &[Value]) -> Option<(BTreeMap<String, Value>, String)> {
    let (dir, output) = run(name, objects)?;
    assert!(output.status.success(), "{name}: {}", support::said(&output));
    let dockerfile = fs::read_to_string(dir.join("bundle.Dockerfile")).expect("it is written");
    Some((files(&dir.join("bundle")), dockerfile))
}

/// It refuses these objects.
pub fn refuses(name: &str, objects: &[Value]) {
    if let Some((_, output)) = run(name, objects) {
        assert!(!output.status.success(), "{name}: operator-sdk makes a bundle of this");
    }
}

/// Ours, that stands in a project of this name.
fn ours(name: &str) -> (BTreeMap<String, Value>, String) {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let dockerfile = fs::read_to_string(dir.join("bundle.Dockerfile")).expect("it is written");
    (files(&dir.join("bundle")), dockerfile)
}

pub const CHANNELS: [&str; 4] = ["--channels", "alpha,beta", "--default-channel", "beta"];

/// Both tools make the same of these objects, but for the differences above.
pub fn check(name: &str, objects: &[Value]) {
    made(name, objects, &CHANNELS);
    agree(name, objects);
}

/// What operator-sdk makes of these objects stands in a project of this name.
pub fn agree(name: &str, objects: &[Value]) {
    let Some((theirs, their_dockerfile)) = theirs(name, objects) else { return };
    let (ours, our_dockerfile) = ours(name);
    let base = objects.iter().find(|it| it["kind"] == "ClusterServiceVersion").expect("a base");
    let (theirs, ours) = (normal(theirs, base), normal(ours, base));
    assert_eq!(
        theirs.keys().collect::<Vec<_>>(),
        ours.keys().collect::<Vec<_>>(),
        "{name}: the same files"
    );
    for (path, theirs) in &theirs {
        let [theirs, ours] = [theirs, &ours[path]].map(|it| format!("{it:#}"));
        let diff = similar::TextDiff::from_lines(&theirs, &ours);
        assert!(theirs == ours, "{name}: {path}\n{}", diff.unified_diff());
    }
    let lines = |text: &str| -> Vec<String> {
        let made_by = |it: &&str| it.contains(".metrics.") || it.starts_with("# @generated");
        text.lines().filter(|it| !made_by(it)).map(str::to_owned).collect()
    };
    assert_eq!(lines(&their_dockerfile), lines(&our_dockerfile), "{name}: bundle.Dockerfile");
}

fn normal(mut files: BTreeMap<String, Value>, base: &Value) -> BTreeMap<String, Value> {
    for (path, file) in &mut files {
        match path.as_str() {
            CSV => csv(file, base),
            "metadata/annotations.yaml" => {
                for it in ["builder", "project_layout"] {
                    file["annotations"][format!("operators.operatorframework.io.metrics.{it}")] =
                        json!("");
                }
            }
            _ => {}
        }
    }
    files
}

fn csv(csv: &mut Value, base: &Value) {
    let annotations = csv["metadata"]["annotations"].as_object_mut().expect("it has annotations");
    annotations.remove("createdAt");
    for it in ["builder", "project_layout"] {
        annotations.remove(&format!("operators.operatorframework.io/{it}"));
    }
    let examples = annotations["alm-examples"].as_str().expect("a text").to_owned();
    annotations["alm-examples"] = serde_json::from_str(&examples).expect("examples are JSON");
    let empty = Vec::new();
    let said = &base["spec"]["customresourcedefinitions"]["owned"];
    let said = said.as_array().unwrap_or(&empty);
    let owned = csv["spec"]["customresourcedefinitions"]["owned"].as_array_mut();
    for entry in owned.into_iter().flatten() {
        let same =
            |it: &&Value| ["name", "version", "kind"].iter().all(|key| it[key] == entry[key]);
        let said = said.iter().find(same).cloned().unwrap_or_default();
        let fields = entry.as_object_mut().expect("an entry is a map");
        fields.retain(|key, _| {
            ["name", "version", "kind"].contains(&key.as_str()) || said.get(key).is_some()
        });
        for key in ["specDescriptors", "statusDescriptors"] {
            let Some(said) = said[key].as_array() else { continue };
            // Of the descriptors, and of each one's fields, those that the base names.
            let of = |entry: &Value| {
                let said = said.iter().find(|it| it["path"] == entry["path"])?.as_object()?;
                Some(said.keys().map(|it| (it.clone(), entry[it].clone())).collect::<Value>())
            };
            let list = fields[key].as_array().expect("descriptors are a list");
            let list: Vec<Value> = list.iter().filter_map(of).collect();
            fields[key] = list.into();
        }
    }
}
