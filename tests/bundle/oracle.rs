//! operator-sdk's own bundle of some objects, beside ours, without what is known to differ.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use super::{files, made, stream};
use crate::support;

/// What `operator-sdk generate bundle` says of these objects, in a folder of its own.
pub fn run(name: &str, objects: &[Value]) -> Option<(PathBuf, Output)> {
    run_with(name, "memcached-operator", &stream(objects), &CHANNELS)
}

/// What `operator-sdk generate bundle` says of a package, a stream of objects and flags.
pub fn run_with(
    name: &str,
    package: &str,
    text: &str,
    words: &[&str],
) -> Option<(PathBuf, Output)> {
    let sdk = support::tool("operator-sdk")?;
    let dir = support::fresh(&format!("{name}-sdk"));
    let mut child = support::command(sdk, &dir)
        .args(["generate", "bundle", "--package", package, "--version", "0.0.1"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("operator-sdk starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    std::io::Write::write_all(&mut stdin, text.as_bytes()).expect("operator-sdk reads");
    drop(stdin);
    Some((dir, child.wait_with_output().expect("operator-sdk ends")))
}

/// What it makes of them, with its Dockerfile; it must make something.
pub fn theirs(name: &str, objects: &[Value]) -> Option<Made> {
    let (dir, output) = run(name, objects)?;
    assert!(output.status.success(), "{name}: {}", support::said(&output));
    Some(made_in(&dir))
}

/// It refuses these objects.
pub fn refuses(name: &str, objects: &[Value]) {
    if let Some((_, output)) = run(name, objects) {
        assert!(!output.status.success(), "{name}: operator-sdk makes a bundle of this");
    }
}

/// Ours, that stands in a project of this name.
fn ours(name: &str) -> Made {
    made_in(&support::folder(name))
}

/// The bundle and the Dockerfile in a folder.
pub fn made_in(dir: &std::path::Path) -> Made {
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
    let Some(theirs) = theirs(name, objects) else { return };
    if let Some(difference) = difference(theirs, ours(name), objects) {
        panic!("{name}: {difference}");
    }
}

pub type Made = (BTreeMap<String, Value>, String);

/// Where two bundles of these objects differ.
pub fn difference(theirs: Made, ours: Made, objects: &[Value]) -> Option<String> {
    difference_of("memcached-operator", theirs, ours, objects)
}

/// Where two bundles of a package of this name differ.
pub fn difference_of(package: &str, theirs: Made, ours: Made, objects: &[Value]) -> Option<String> {
    let ((theirs, their_dockerfile), (ours, our_dockerfile)) = (theirs, ours);
    let is_base = |it: &&Value| {
        let name = it["metadata"]["name"].as_str();
        it["kind"] == "ClusterServiceVersion"
            && name.is_some_and(|it| it.starts_with(&format!("{package}.")))
    };
    let base = objects.iter().find(is_base).cloned().unwrap_or_default();
    let (theirs, ours) = (normal(theirs, &base), normal(ours, &base));
    let [their_names, our_names] = [&theirs, &ours].map(|it| it.keys().collect::<Vec<_>>());
    if their_names != our_names {
        return Some(format!("other files: {their_names:?} there, {our_names:?} here"));
    }
    for (path, theirs) in &theirs {
        let [theirs, ours] = [theirs, &ours[path]].map(|it| format!("{it:#}"));
        if theirs != ours {
            let diff = similar::TextDiff::from_lines(&theirs, &ours);
            return Some(format!("{path}\n{}", diff.unified_diff()));
        }
    }
    let lines = |text: &str| -> Vec<String> {
        let made_by = |it: &&str| {
            it.contains(".metrics.") || it.starts_with("# @") || it.starts_with("# Generated with")
        };
        text.lines().filter(|it| !made_by(it)).map(str::to_owned).collect()
    };
    let differs = lines(&their_dockerfile) != lines(&our_dockerfile);
    differs.then(|| format!("bundle.Dockerfile:\n{their_dockerfile}\n{our_dockerfile}"))
}

fn normal(mut files: BTreeMap<String, Value>, base: &Value) -> BTreeMap<String, Value> {
    for (path, file) in &mut files {
        match path.as_str() {
            path if path.ends_with(".clusterserviceversion.yaml") => csv(file, base),
            "metadata/annotations.yaml" => {
                for it in ["builder", "project_layout"] {
                    file["annotations"][format!("operators.operatorframework.io.metrics.{it}")] =
                        json!("");
                }
            }
            _ => {}
        }
        // Ours names the Service that OLM makes.
        if let Some(name) = file.pointer_mut("/spec/conversion/webhook/clientConfig/service/name") {
            *name = json!("");
        }
    }
    files
}

fn csv(csv: &mut Value, base: &Value) {
    // Ours says what Cargo.toml says, where the base is silent.
    let is_empty = |it: &Value| it.as_array().is_some_and(Vec::is_empty);
    let is_silent = |it: &Value| it.is_null() || *it == "" || is_empty(it);
    if is_silent(&base["spec"]["displayName"]) && is_silent(&base["spec"]["displayname"]) {
        csv["spec"].as_object_mut().expect("it is a map").remove("displayName");
    }
    // Go's sort of more than twelve is not stable: those of one name change places.
    if let Some(definitions) = csv["spec"]["webhookdefinitions"].as_array_mut() {
        definitions.sort_by_key(|it| format!("{} {}", it["generateName"], it["type"]));
    }
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
            ["name", "version", "kind"].contains(&key.as_str()) || !is_silent(&said[key])
        });
        for key in ["specDescriptors", "statusDescriptors"] {
            let Some(said) = said[key].as_array() else { continue };
            // Of the descriptors, and of each one's fields, those that the base names.
            let of = |entry: &Value| {
                let said = said.iter().find(|it| it["path"] == entry["path"])?.as_object()?;
                let said = said.iter().filter(|it| !is_silent(it.1));
                Some(said.map(|(key, _)| (key.clone(), entry[key].clone())).collect::<Value>())
            };
            let list = fields[key].as_array().expect("descriptors are a list");
            let list: Vec<Value> = list.iter().filter_map(of).collect();
            fields[key] = list.into();
        }
    }
}
