//! Bundles of others: operator-sdk and we give the same verdict on each. By default those that operator-framework/api
//! is tested with, whose manifests get annotations where they have none; `PUBLIC_BUNDLES=DIR cargo test --features originals --test bundle others -- --nocapture` takes every directory in DIR
//! that has `manifests` or `metadata`, e.g. of a copy of community-operators.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::broken::oracle;
use crate::support;

#[test]
fn bundles_of_others_get_the_same_verdict() {
    let Some(tool) = support::tool("verdicts") else { return };
    let given = std::env::var_os("PUBLIC_BUNDLES").map(PathBuf::from);
    let (dir, least) = match given {
        Some(dir) => (dir, 1),
        None => (bundled(&tool.with_file_name("verdicts-data")), 30),
    };
    let mut names = Vec::new();
    bundles(&dir, "", &mut names);
    assert!(names.len() >= least, "{} has {} bundles", dir.display(), names.len());
    let mut differences: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for select in ["", "suite=operatorframework"] {
        let Some(theirs) = oracle::theirs(&dir, &names, select) else { return };
        let mut counts = [0; 2];
        for (name, theirs) in names.iter().zip(theirs) {
            counts[usize::from(theirs.passed)] += 1;
            let ours = oracle::ours(&dir, name, select);
            if let Some(difference) = theirs.difference(&ours) {
                differences.entry(difference).or_default().push(name);
            }
        }
        eprintln!("{select}: {} good, {} bad", counts[1], counts[0]);
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Every directory of manifests, and every manifest alone, as a bundle.
fn bundled(data: &Path) -> PathBuf {
    let dir = support::fresh("bundles-of-others");
    let mut bundles: BTreeMap<String, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    for (path, bytes) in support::tree(data).into_iter().filter(|it| it.0.ends_with(".yaml")) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let name = format!("manifests/{name}");
        let own = match folder {
            "" => path.replace('.', "-"),
            folder => folder.replace('/', "-"),
        };
        match folder.rsplit_once('/') {
            // It is a whole bundle already.
            Some((folder, part @ ("manifests" | "metadata"))) => {
                let name = format!("{part}/{}", name.trim_start_matches("manifests/"));
                bundles.entry(folder.replace('/', "-")).or_default().insert(name, bytes);
            }
            _ => drop(bundles.entry(own).or_default().insert(name, bytes)),
        }
    }
    let keys = ["mediatype", "manifests", "metadata", "package", "channels"];
    let values = ["registry+v1", "manifests/", "metadata/", "a", "alpha"];
    let lines = keys.iter().zip(values);
    let lines =
        lines.map(|(key, it)| format!("  operators.operatorframework.io.bundle.{key}.v1: {it}\n"));
    let annotations = format!("annotations:\n{}", lines.collect::<String>());
    for (name, mut files) in bundles {
        files.entry("metadata/annotations.yaml".to_owned()).or_insert(annotations.clone().into());
        support::put(&files, &dir.join(name));
    }
    dir
}

fn bundles(root: &Path, below: &str, names: &mut Vec<String>) {
    let folder = root.join(below);
    if ["manifests", "metadata"].iter().any(|it| folder.join(it).is_dir()) {
        return names.push(if below.is_empty() { ".".to_owned() } else { below.to_owned() });
    }
    let mut folders: Vec<String> = fs::read_dir(&folder)
        .expect("the folder can be read")
        .map(|it| it.expect("it can be listed"))
        .filter(|it| it.path().is_dir())
        .filter_map(|it| it.file_name().into_string().ok())
        .collect();
    folders.sort();
    for it in folders {
        let below = if below.is_empty() { it } else { format!("{below}/{it}") };
        bundles(root, &below, names);
    }
}
