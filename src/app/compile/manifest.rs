//! The Cargo.toml of the program that prints CRDs, and the parts that all throwaway manifests share. Pure: values in, text
//! out.

use std::path::Path;

use anyhow::Context as _;
use toml::{Table, Value};

use crate::{
    app::cargo::{KUBERNETES, UserPackage},
    source::Locked,
};

/// The name of the program's package.
pub const NAME: &str = "operator-rs-crds";

/// The file of a library that only makes cargo build the crate with the kinds.
pub const LIBRARY: &str = "operator-rs-subject.rs";

/// What goes into Cargo.toml of the generated program that prints CRDs.
pub struct CrdPrinterManifest<'a> {
    /// Its name, which is unique, since projects may share a target folder.
    pub name: &'a str,
    /// The folder of the crate with the kinds.
    pub subject: &'a Path,
    pub features: &'a [String],
    pub kubernetes: &'a Locked,
    pub json: &'a Locked,
}

/// Returns the Cargo.toml of the program, which is also that of the throwaway workspace.
pub fn program(
    package: &UserPackage<'_>,
    program: &CrdPrinterManifest<'_>,
) -> anyhow::Result<String> {
    let mut subject = Table::new();
    subject.insert("package".to_owned(), package.name()?.into());
    subject.insert("path".to_owned(), program.subject.to_string_lossy().into_owned().into());
    subject.insert("default-features".to_owned(), false.into());
    subject.insert("features".to_owned(), list(program.features));
    let mut kubernetes = exact_requirement(program.kubernetes)?;
    let developers = package.kubernetes_of_developers();
    if let Some(Value::Array(features)) =
        developers.and_then(|pair| pair.1.get("features").cloned())
    {
        kubernetes.insert("features".to_owned(), features.into());
    }
    let dependencies = Table::from_iter([
        ("subject".to_owned(), subject.into()),
        (KUBERNETES.to_owned(), kubernetes.into()),
        ("serde_json".to_owned(), exact_requirement(program.json)?.into()),
    ]);
    let mut manifest = Table::new();
    manifest.insert("package".to_owned(), package_table(NAME, "0.0.0").into());
    let bin = Table::from_iter([
        ("name".to_owned(), program.name.into()),
        ("path".to_owned(), "operator-rs-crds.rs".into()),
    ]);
    manifest.insert("bin".to_owned(), Value::Array(vec![bin.into()]));
    let lib = Table::from_iter([
        ("name".to_owned(), format!("{}_lib", program.name.replace('-', "_")).into()),
        ("path".to_owned(), LIBRARY.into()),
    ]);
    manifest.insert("lib".to_owned(), lib.into());
    manifest.insert("dependencies".to_owned(), dependencies.into());
    let resolver = package.resolver().map(|resolver| ("resolver".to_owned(), resolver));
    manifest.insert("workspace".to_owned(), resolver.into_iter().collect::<Table>().into());
    // With the same profile, the artifacts of the user's own builds are reused.
    if let Some(profile) = package.workspace.get("profile").and_then(|value| value.get("dev")) {
        let mut profile = profile.clone();
        if let Value::Table(it) = &mut profile {
            // Panics are caught, and symbols are read from object files.
            it.remove("panic");
            it.remove("lto");
        }
        manifest
            .insert("profile".to_owned(), Table::from_iter([("dev".to_owned(), profile)]).into());
    }
    if let Some(patches) = package.patches() {
        manifest.insert("patch".to_owned(), patches.into());
    }
    Ok(manifest.to_string())
}

/// `[package]` of a throwaway crate, whose targets are listed explicitly.
pub fn package_table(name: &str, version: &str) -> Table {
    let mut table = Table::new();
    table.insert("name".to_owned(), name.into());
    table.insert("version".to_owned(), version.into());
    table.insert("edition".to_owned(), "2021".into());
    table.insert("publish".to_owned(), false.into());
    for key in ["autolib", "autobins", "autoexamples", "autotests", "autobenches"] {
        table.insert(key.to_owned(), false.into());
    }
    table
}

pub fn list(features: &[String]) -> Value {
    features.iter().cloned().map(Value::from).collect::<Vec<_>>().into()
}

/// Returns a dependency on exactly this version, from its source in the lock.
fn exact_requirement(locked: &Locked) -> anyhow::Result<Table> {
    let mut table = Table::new();
    table.insert("version".to_owned(), format!("={}", locked.version).into());
    if let Some(git) = locked.source.as_deref().and_then(|source| source.strip_prefix("git+")) {
        let (url, rev) =
            git.rsplit_once('#').context("Cargo.lock has a git source without a commit")?;
        let (url, query) = url.split_once('?').unwrap_or((url, ""));
        table.insert("git".to_owned(), url.into());
        match query.split_once('=') {
            Some((key @ ("branch" | "tag" | "rev"), value)) => {
                drop(table.insert(key.to_owned(), value.into()))
            }
            _ => drop(table.insert("rev".to_owned(), rev.into())),
        }
    }
    Ok(table)
}
