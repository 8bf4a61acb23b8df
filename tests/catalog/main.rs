//! Catalogs, beside `opm`: what it renders, the catalogs that it makes of templates, and its verdicts.

#![allow(clippy::print_stderr, reason = "a test says how much it has compared")]
#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "credentials are tested elsewhere")]
#[path = "../images/registry.rs"]
mod registry;

mod bundles;
mod faults;
mod graph;
mod hostile;
mod images;
mod oracle;
mod random;
mod render;
mod templates;

use std::{fs, path::Path};

use serde_json::{Value, json};

/// A catalog of one package with two channels: `stable` has three versions and `candidate` the last one of them.
pub fn blobs() -> Vec<Value> {
    let bundle = |version: &str| {
        json!({
            "schema": "olm.bundle", "name": format!("memcached.v{version}"), "package": "memcached",
            "image": format!("quay.io/example/memcached-bundle:v{version}"),
            "properties": [
                {"type": "olm.gvk", "value": {"group": "cache.example.com", "kind": "Memcached", "version": "v1"}},
                {"type": "olm.package", "value": {"packageName": "memcached", "version": version}},
            ],
            "relatedImages": [{"name": "", "image": format!("quay.io/example/memcached:v{version}")}],
        })
    };
    vec![
        json!({"schema": "olm.package", "name": "memcached", "defaultChannel": "stable", "description": "A cache"}),
        json!({"schema": "olm.channel", "name": "candidate", "package": "memcached", "entries": [
            {"name": "memcached.v1.2.0", "skipRange": ">=1.0.0 <1.2.0"},
        ]}),
        json!({"schema": "olm.channel", "name": "stable", "package": "memcached", "entries": [
            {"name": "memcached.v1.0.0"},
            {"name": "memcached.v1.1.0", "replaces": "memcached.v1.0.0"},
            {"name": "memcached.v1.2.0", "replaces": "memcached.v1.0.0", "skips": ["memcached.v1.1.0"]},
        ]}),
        bundle("1.0.0"),
        bundle("1.1.0"),
        bundle("1.2.0"),
        json!({"schema": "olm.deprecations", "package": "memcached", "entries": [
            {"reference": {"schema": "olm.bundle", "name": "memcached.v1.0.0"}, "message": "1.0.0 has a defect"},
        ]}),
        json!({"schema": "example.com/note", "package": "memcached", "text": "kept"}),
    ]
}

/// Blobs as a stream of YAML documents; JSON is YAML.
pub fn stream(blobs: &[Value]) -> String {
    blobs.iter().map(|it| format!("---\n{it:#}\n")).collect()
}

/// A folder with one file of a catalog.
pub fn put(name: &str, text: &[u8]) -> std::path::PathBuf {
    let dir = support::fresh(name);
    fs::create_dir_all(dir.join("catalog")).expect("it can be made");
    fs::write(dir.join("catalog/catalog.yaml"), text).expect("it can be written");
    dir
}

/// The text of `catalog validate -o json`: none where the catalog is valid.
pub fn verdict(dir: &Path) -> Option<String> {
    let output = support::operator_rs(dir, "catalog validate catalog -o json");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", support::said(&output)));
    assert_eq!(report["passed"], json!(output.status.success()), "{}", support::said(&output));
    report["error"]["message"].as_str().map(str::to_owned)
}

/// The values of a stream of JSON.
pub fn values(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text)
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The blobs as sorted lines, independent of the order of their properties.
pub fn sorted(mut values: Vec<Value>) -> Vec<String> {
    for value in &mut values {
        // `opm` orders the related images by their references alone, with a sort that is not stable.
        for key in ["properties", "relatedImages"] {
            if let Some(list) = value[key].as_array_mut() {
                list.sort_by_cached_key(ToString::to_string);
            }
        }
    }
    let mut res: Vec<String> = values.iter().map(ToString::to_string).collect();
    res.sort();
    res
}
