//! The list of what is linked into a program: CycloneDX 1.5, as JSON. Pure.
//!
//! These are the packages that cargo has compiled for the platform: no macros, no build scripts, no tests. The document has
//! no time and no serial number, so that the same source has the same list.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use toml::Table;

use super::metadata::{CargoMetadata, CargoPackage};
use crate::app::cargo::messages::Built;
use model::without_user;

/// The sources of the list.
pub struct Linked<'a> {
    pub metadata: &'a CargoMetadata,
    /// The package of the program.
    pub root: &'a CargoPackage,
    /// The packages that cargo has built.
    pub built: &'a Built,
    pub triple: &'a str,
    /// The text of Cargo.lock.
    pub lock: &'a str,
    /// The version of Rust.
    pub rust: &'a str,
}

/// The document.
pub fn render_document(linked: &Linked<'_>) -> anyhow::Result<String> {
    let Linked { metadata, root, built, triple, lock, rust } = linked;
    let artifacts = built.artifacts.iter().filter(|artifact| artifact.is_for(triple));
    let ids: BTreeSet<&str> = artifacts.map(|artifact| artifact.package.as_str()).collect();
    let checksums = parse_checksums(lock)?;
    let packages: BTreeMap<&str, &CargoPackage> = { metadata.packages.iter() }
        .filter(|package| ids.contains(package.id.as_str()))
        .map(|package| (package.id.as_str(), package))
        .collect();
    let edges = metadata.dependencies_by_kind(&[None]);
    let (mut components, mut dependencies) = (Vec::new(), BTreeMap::new());
    for (id, package) in &packages {
        let below = edges.get(id).into_iter().flatten().filter_map(|id| packages.get(id));
        let below: BTreeSet<String> = below.map(|package| bom_reference(package)).collect();
        dependencies.insert(bom_reference(package), below);
        if package.id != root.id {
            components
                .push((bom_reference(package), build_component(package, "library", &checksums)));
        }
    }
    components.sort_by(|one, other| one.0.cmp(&other.0));
    let standard = json!({
        "type": "library",
        "bom-ref": "rust",
        "name": "rust",
        "version": rust,
        "description": format!("The standard library for {triple}"),
    });
    if let Some(all) = dependencies.get_mut(&bom_reference(root)) {
        all.insert("rust".to_owned());
    }
    dependencies.insert("rust".to_owned(), BTreeSet::new());
    let dependencies =
        dependencies.into_iter().map(|(of, on)| json!({ "ref": of, "dependsOn": on }));
    let tool = json!({
        "type": "application",
        "name": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
    });
    let document = json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "tools": { "components": [tool] },
            "component": build_component(root, "application", &checksums),
        },
        "components": components.into_iter().map(|component| component.1).chain([standard]).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    });
    Ok(format!("{document:#}\n"))
}

/// Returns whether an earlier run has written this document.
pub fn is_ours(document: &[u8]) -> bool {
    let value: Value = serde_json::from_slice(document).unwrap_or_default();
    value["bomFormat"] == "CycloneDX"
        && value["metadata"]["tools"]["components"][0]["name"] == env!("CARGO_PKG_NAME")
}

fn build_component(package: &CargoPackage, kind: &str, checksums: &PackageChecksums) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": bom_reference(package),
        "name": package.name,
        "version": package.version,
    });
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            component[key] = value;
        }
    };
    set("description", package.description.as_deref().map(|text| text.trim().into()));
    set("scope", (kind == "library").then(|| "required".into()));
    set("licenses", license_choice(package).map(|license| json!([license])));
    set("purl", package_url(package).map(Value::from));
    let key = (package.name.clone(), package.version.clone(), package.source.clone());
    let checksum =
        checksums.get(&key).map(|digest| json!([{ "alg": "SHA-256", "content": digest }]));
    set("hashes", checksum);
    let repository = package.repository.as_ref().filter(|url| url.starts_with("http"));
    set("externalReferences", repository.map(|url| json!([{ "type": "vcs", "url": url }])));
    component
}

/// Old packages separate licences with `/`.
fn license_choice(package: &CargoPackage) -> Option<Value> {
    match (&package.license, &package.license_file) {
        (Some(text), _) => {
            let parts: Vec<&str> = text.split('/').map(str::trim).collect();
            Some(json!({ "expression": parts.join(" OR ") }))
        }
        (None, Some(file)) => Some(json!({ "license": { "name": file } })),
        (None, None) => None,
    }
}

/// Returns the document's reference to a package.
fn bom_reference(package: &CargoPackage) -> String {
    package_url(package).unwrap_or_else(|| format!("{}@{}", package.name, package.version))
}

/// The package's URL; none for one in a folder: on crates.io, its name may be another package's.
fn package_url(package: &CargoPackage) -> Option<String> {
    let source = package.source.as_ref()?;
    let version = escape_url(&package.version);
    let base = format!("pkg:cargo/{}@{version}", package.name);
    if source.contains("github.com/rust-lang/crates.io-index") || source.contains("index.crates.io")
    {
        return Some(base);
    }
    let (key, url) = match source.split_once('+') {
        Some(("git", _)) => ("vcs_url", source.as_str()),
        Some((_, url)) => ("repository_url", url),
        None => ("repository_url", source.as_str()),
    };
    // The revision follows a `#`.
    let url = match url.split_once('#') {
        Some((url, revision)) => format!("{}@{revision}", url.split('?').next().unwrap_or(url)),
        None => url.to_owned(),
    };
    Some(format!("{base}?{key}={}", escape_url(&without_user(&url))))
}

/// Escapes what has a meaning in a URL.
fn escape_url(text: &str) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~')
        .remove(b'/')
        .remove(b':')
        .remove(b'@');
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// By name, version and source.
type PackageChecksums = BTreeMap<(String, String, Option<String>), String>;

fn parse_checksums(lock: &str) -> anyhow::Result<PackageChecksums> {
    let lock: Table = lock.parse().context("cannot parse Cargo.lock")?;
    let packages = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten();
    let entry = |package: &toml::Value| {
        let text = |key: &str| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        Some(((text("name")?, text("version")?, text("source")), text("checksum")?))
    };
    Ok(packages.filter_map(entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";

    fn package(id: &str, source: Option<&str>, license: Option<&str>, kind: &str) -> Value {
        let (name, version) = id.split_once('@').expect("a version");
        json!({
            "id": id, "name": name, "version": version, "source": source, "license": license,
            "license_file": null, "description": null, "default_run": null,
            "repository": "https://me:secret@example.com/x",
            "targets": [{ "name": name, "kind": [kind] }],
        })
    }

    fn node(id: &str, on: &[(&str, Option<&str>)]) -> Value {
        let deps =
            on.iter().map(|(id, kind)| json!({ "pkg": id, "dep_kinds": [{ "kind": kind }] }));
        json!({ "id": id, "deps": deps.collect::<Vec<_>>() })
    }

    #[test]
    fn the_sbom_lists_only_linked_packages() {
        let metadata = json!({
            "workspace_root": "/w",
            "target_directory": "/w/target",
            "workspace_members": ["it@1.0.0"],
            "packages": [
                package("it@1.0.0", None, Some("Apache-2.0"), "bin"),
                package("ring@0.17.8", Some(INDEX), Some("MIT/ISC"), "lib"),
                package("cc@1.0.0", Some(INDEX), None, "lib"),
                package("macros@1.0.0", Some(INDEX), None, "proc-macro"),
                package("forked@1.0.0+x", Some("git+https://me:secret@example.com/f?branch=b#abc"), None, "lib"),
                package("unused@1.0.0", Some(INDEX), None, "lib"),
            ],
            "resolve": { "root": "it@1.0.0", "nodes": [
                node("it@1.0.0", &[("ring@0.17.8", None), ("macros@1.0.0", None), ("forked@1.0.0+x", None), ("unused@1.0.0", Some("dev"))]),
                node("ring@0.17.8", &[("cc@1.0.0", Some("build"))]),
                node("macros@1.0.0", &[]), node("forked@1.0.0+x", &[]), node("cc@1.0.0", &[]),
                node("unused@1.0.0", &[]),
            ] },
        });
        let metadata = CargoMetadata::parse(&metadata.to_string()).expect("it is metadata");
        assert_eq!(
            metadata.with_c(metadata.root_package(None).expect("a package")),
            ["ring 0.17.8"]
        );
        let artifact = |id: &str, folder: &str| {
            let message = json!({
                "reason": "compiler-artifact", "package_id": id, "manifest_path": "/x/Cargo.toml",
                "target": { "name": "x" }, "filenames": [format!("/w/target/{folder}/libx.rlib")],
            });
            format!("{message}\n")
        };
        let triple = "x86_64-unknown-linux-musl";
        let there = format!("{triple}/release/deps");
        let messages: String =
            [("it@1.0.0", &*there), ("ring@0.17.8", &there), ("forked@1.0.0+x", &there)]
                .into_iter()
                .chain([("cc@1.0.0", "release/deps"), ("macros@1.0.0", "release/deps")])
                .map(|(id, folder)| artifact(id, folder))
                .collect();
        let lock = format!(
            "[[package]]\nname = 'ring'\nversion = '0.17.8'\nsource = '{INDEX}'\nchecksum = 'abc'\n"
        );
        let built = Built::read(&messages);
        let linked = Linked {
            root: metadata.root_package(None).expect("a package"),
            metadata: &metadata,
            built: &built,
            triple,
            lock: &lock,
            rust: "1.95.0",
        };
        let text = render_document(&linked).expect("it is complete");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document["metadata"]["component"]["name"], "it");
        assert_eq!(document["metadata"]["component"]["purl"], Value::Null);
        let names: Vec<&Value> = { document["components"].as_array() }
            .into_iter()
            .flatten()
            .map(|component| &component["bom-ref"])
            .collect();
        let forked = "pkg:cargo/forked@1.0.0%2Bx?vcs_url=git%2Bhttps://example.com/f@abc";
        assert_eq!(names, [forked, "pkg:cargo/ring@0.17.8", "rust"]);
        assert_eq!(
            document["components"][1],
            json!({
                "type": "library", "bom-ref": "pkg:cargo/ring@0.17.8", "name": "ring",
                "version": "0.17.8", "scope": "required", "purl": "pkg:cargo/ring@0.17.8",
                "licenses": [{ "expression": "MIT OR ISC" }],
                "hashes": [{ "alg": "SHA-256", "content": "abc" }],
                "externalReferences": [{ "type": "vcs", "url": "https://example.com/x" }],
            })
        );
        assert_eq!(
            document["dependencies"],
            json!([
                { "ref": "it@1.0.0", "dependsOn": [forked, "pkg:cargo/ring@0.17.8", "rust"] },
                { "ref": forked, "dependsOn": [] },
                { "ref": "pkg:cargo/ring@0.17.8", "dependsOn": [] },
                { "ref": "rust", "dependsOn": [] },
            ])
        );
    }
}
