//! Whether Cargo.lock names crates whose output is known here. Another version is refused by name: what it
//! would print may differ.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::model::{Place, Problem, SourcePath};

/// The packages that decide what `crd()` prints, and the versions that are known: those that are built in here.
const KNOWN: &[(&str, &str)] = &[
    ("kube-core", "5.0.0"),
    ("kube-derive", "5.0.0"),
    ("schemars", "1.2.3"),
    ("schemars_derive", "1.2.3"),
    ("serde_derive_internals", "0.30.0"),
    ("k8s-openapi", "0.29.0"),
];

/// The feature that the types of k8s-openapi built in here are of.
const FEATURE: &str = "v1_33";

/// `kubernetes` says that a schema holds types of k8s-openapi.
pub fn check(files: &BTreeMap<SourcePath, String>, kubernetes: bool) -> Vec<Problem> {
    let mut res = Vec::new();
    let lock = files.iter().find(|(path, _)| path.as_str() == "Cargo.lock");
    if let Some((path, text)) = lock {
        res.extend(packages(path, text));
    }
    if kubernetes {
        res.extend(feature(files));
    }
    res
}

struct Package<'a> {
    line: usize,
    version: &'a str,
    source: Option<&'a str>,
}

fn packages(path: &SourcePath, text: &str) -> Vec<Problem> {
    let mut found: BTreeMap<&str, Vec<Package<'_>>> = BTreeMap::new();
    let mut name = "";
    for (index, line) in text.lines().enumerate() {
        let value = |key: &str| -> Option<&str> {
            line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
        };
        if let Some(it) = value("name") {
            name = it;
        } else if let Some(version) = value("version") {
            let package = Package { line: index + 1, version, source: None };
            found.entry(name).or_default().push(package);
        } else if let (Some(source), Some(list)) = (value("source"), found.get_mut(name))
            && let Some(package) = list.last_mut()
        {
            package.source = Some(source);
        }
    }
    let mut res = Vec::new();
    let mut refuse = |line: usize, message: String, hint: String| {
        let place = Place { path: path.clone(), line, column: 1 };
        res.push(Problem { way: Vec::new(), place, message, hint: Some(hint) });
    };
    for (name, known) in KNOWN {
        let major = known.split('.').next().unwrap_or(known);
        let same = |it: &&Package<'_>| it.version.split('.').next() == Some(major);
        let all = found.get(name).map(Vec::as_slice).unwrap_or_default();
        // schemars 0.8 may be locked for another crate: kube 5 takes 1.
        let candidates: Vec<_> = match all.iter().filter(same).collect::<Vec<_>>() {
            same if same.is_empty() => all.iter().collect(),
            same => same,
        };
        let others = name.starts_with("kube") && 1 < all.len();
        for package in &candidates {
            let foreign = !package.source.is_some_and(|it| it.starts_with("registry+"));
            if others {
                let message = format!(
                    "`{name}` is locked in {} versions, and it is not said which one writes the CRDs",
                    all.len()
                );
                refuse(
                    package.line,
                    message,
                    "lock one: `cargo tree --duplicates` says who asks for another".to_owned(),
                );
                break;
            }
            if foreign {
                let message =
                    format!("`{name}` is not the published one: what it prints is not known");
                refuse(package.line, message, format!("depend on the published `{name}` {known}"));
            } else if package.version != *known {
                let message =
                    format!("`{name}` {} is locked, whose output is not known", package.version);
                refuse(
                    package.line,
                    message,
                    format!("run `cargo update -p {name} --precise {known}`"),
                );
            }
        }
    }
    res
}

/// k8s-openapi's types are those of the Kubernetes version that a feature names.
fn feature(files: &BTreeMap<SourcePath, String>) -> Vec<Problem> {
    let mut said: BTreeMap<String, Place> = BTreeMap::new();
    let mut depends = None;
    for (path, text) in files.iter().filter(|(path, _)| path.name() == "Cargo.toml") {
        let Ok(table) = text.parse::<Table>() else { continue };
        let shared = table.get("workspace").and_then(|it| it.get("dependencies"));
        for dependencies in [table.get("dependencies"), shared].into_iter().flatten() {
            let features = of_kubernetes(dependencies);
            let line =
                text.lines().position(|it| it.contains("k8s-openapi")).map_or(1, |it| it + 1);
            let place = Place { path: path.clone(), line, column: 1 };
            if let Some(features) = features {
                depends.get_or_insert_with(|| place.clone());
                for feature in features {
                    said.entry(feature).or_insert_with(|| place.clone());
                }
            }
        }
    }
    let hint = format!(
        "say `k8s-openapi = {{ version = \"0.29\", features = [\"{FEATURE}\", \"schemars\"] }}`, the oldest that the crate knows"
    );
    let refuse = |place: &Place, message: String| {
        vec![Problem { way: Vec::new(), place: place.clone(), message, hint: Some(hint.clone()) }]
    };
    match (said.iter().find(|(it, _)| *it != FEATURE && *it != "earliest"), &depends) {
        (Some((feature, place)), _) => refuse(
            place,
            format!("types of k8s-openapi are read for its feature `{FEATURE}`, not `{feature}`"),
        ),
        (None, Some(place)) if said.is_empty() => refuse(
            place,
            format!(
                "types of k8s-openapi are read for its feature `{FEATURE}`, and none is chosen here"
            ),
        ),
        _ => Vec::new(),
    }
}

/// The features that choose a version of Kubernetes; none where there is no such dependency.
fn of_kubernetes(dependencies: &Value) -> Option<BTreeSet<String>> {
    let table = dependencies.as_table()?;
    let is = |name: &str, value: &Value| match value.get("package").and_then(Value::as_str) {
        Some(package) => package == "k8s-openapi",
        None => name == "k8s-openapi",
    };
    let (_, value) = table.iter().find(|(name, value)| is(name, value))?;
    let features = value.get("features").and_then(Value::as_array).into_iter().flatten();
    let names = features.filter_map(Value::as_str);
    let version = |it: &&str| it.starts_with("v1_") || matches!(*it, "earliest" | "latest");
    Some(names.filter(version).map(str::to_owned).collect())
}

#[test]
fn the_versions_that_are_known_are_those_that_are_built_in() {
    let lock = include_str!("../../Cargo.lock");
    for (name, version) in KNOWN {
        let there = lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n"));
        // kube-derive is not built in: what it does at compile time is written anew here.
        assert!(there || *name == "kube-derive", "{name} {version}");
    }
}

#[test]
fn other_versions_are_refused_by_name() {
    let check = |lock: &str, expected: &[&str]| {
        let found = packages(&SourcePath::fixed("Cargo.lock"), lock);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    };
    let package = |name: &str, version: &str| {
        format!(
            "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry+x\"\n\n"
        )
    };
    check(&package("kube-core", "5.0.0"), &[]);
    check(
        &package("kube-core", "4.2.0"),
        &["Cargo.lock:3:1: `kube-core` 4.2.0 is locked, whose output is not known"],
    );
    check(&(package("schemars", "0.8.22") + &package("schemars", "1.2.3")), &[]);
    check(
        "[[package]]\nname = \"kube-derive\"\nversion = \"5.0.0\"\n",
        &["Cargo.lock:3:1: `kube-derive` is not the published one: what it prints is not known"],
    );
}
