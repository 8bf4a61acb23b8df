//! The Cargo.toml of the program that prints CRDs, and what all throwaway manifests share. Pure: texts in, texts out.

use std::path::Path;

use anyhow::Context as _;
use toml::{Table, Value};

use crate::source::Locked;

/// What cargo knows the program's package by.
pub const NAME: &str = "operator-rs-crds";

/// The file of a library that only has the crate with the kinds built.
pub const LIBRARY: &str = "operator-rs-subject.rs";

/// The crate that must be told a version of Kubernetes.
pub const KUBERNETES: &str = "k8s-openapi";

/// The user's package, as its files say.
pub struct Package<'a> {
    pub folder: &'a Path,
    pub manifest: &'a Table,
    /// Where its workspace's Cargo.toml is, and what it says; the package's own where it is in none.
    pub top: &'a Path,
    pub workspace: &'a Table,
}

/// What the program depends on.
pub struct Program<'a> {
    /// What the program is called: a target folder may serve several projects.
    pub name: &'a str,
    /// Where the crate with the kinds is.
    pub subject: &'a Path,
    pub features: &'a [String],
    pub kubernetes: &'a Locked,
    pub json: &'a Locked,
}

impl Package<'_> {
    pub fn name(&self) -> anyhow::Result<&str> {
        let name = self.manifest.get("package").and_then(|it| it.get("name")?.as_str());
        name.context("Cargo.toml has no package name")
    }

    pub fn version(&self) -> String {
        let own = self.manifest.get("package").and_then(|it| it.get("version"));
        let version = own.and_then(|it| self.inherited("version", it));
        version.and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_else(|| "0.0.0".to_owned())
    }

    /// A key of `[package]`, which the workspace may have.
    pub fn inherited(&self, key: &str, value: &Value) -> Option<Value> {
        let shared = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
        match shared {
            true => self.workspace.get("workspace")?.get("package")?.get(key).cloned(),
            false => Some(value.clone()),
        }
    }

    /// Dependencies as they are where they are not inherited, each path from the root.
    pub fn dependencies(&self, table: &Table) -> Table {
        table.iter().map(|(name, it)| (name.clone(), self.dependency(name, it))).collect()
    }

    fn dependency(&self, name: &str, value: &Value) -> Value {
        let shared = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
        if !shared {
            return placed(value, self.folder);
        }
        let found =
            self.workspace.get("workspace").and_then(|it| it.get("dependencies")?.get(name));
        let mut res = match found {
            Some(Value::Table(it)) => it.clone(),
            Some(version) => [("version".to_owned(), version.clone())].into_iter().collect(),
            None => Table::new(),
        };
        for (key, it) in value.as_table().into_iter().flatten() {
            match (key.as_str(), it) {
                ("workspace", _) => {}
                ("features", Value::Array(more)) => match res.get_mut("features") {
                    Some(Value::Array(list)) => list.extend(more.iter().cloned()),
                    _ => drop(res.insert(key.clone(), it.clone())),
                },
                // Turning them off says nothing where the workspace has them on.
                ("default-features", Value::Boolean(false)) => {}
                _ => drop(res.insert(key.clone(), it.clone())),
            }
        }
        placed(&res.into(), self.top)
    }

    /// k8s-openapi as those have it who develop the package: a library leaves the version of Kubernetes to programs,
    /// and does not compile where nobody chooses one.
    pub fn kubernetes_of_developers(&self) -> Option<(String, Value)> {
        let table = self.manifest.get("dev-dependencies")?.as_table()?;
        let name = |key: &str, it: &Value| {
            it.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
        };
        self.dependencies(table).into_iter().find(|(key, it)| name(key, it) == KUBERNETES)
    }
}

/// The Cargo.toml of the program, which is also that of the throwaway workspace.
pub fn program(package: &Package<'_>, program: &Program<'_>) -> anyhow::Result<String> {
    let mut subject = Table::new();
    subject.insert("package".to_owned(), package.name()?.into());
    subject.insert("path".to_owned(), program.subject.to_string_lossy().into_owned().into());
    subject.insert("default-features".to_owned(), false.into());
    subject.insert("features".to_owned(), list(program.features));
    let mut kubernetes = requirement(program.kubernetes)?;
    let developers = package.kubernetes_of_developers();
    if let Some(Value::Array(features)) = developers.and_then(|it| it.1.get("features").cloned()) {
        kubernetes.insert("features".to_owned(), features.into());
    }
    let dependencies = Table::from_iter([
        ("subject".to_owned(), subject.into()),
        (KUBERNETES.to_owned(), kubernetes.into()),
        ("serde_json".to_owned(), requirement(program.json)?.into()),
    ]);
    let mut manifest = Table::new();
    manifest.insert("package".to_owned(), about(NAME, "0.0.0").into());
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
    let resolver = package.workspace.get("workspace").and_then(|it| it.get("resolver"));
    let resolver = resolver.cloned().or_else(|| resolver_of_edition(package));
    let alone: Table = resolver.map(|it| ("resolver".to_owned(), it)).into_iter().collect();
    manifest.insert("workspace".to_owned(), alone.into());
    // With the same profile, what the user's own builds have made is used again.
    if let Some(profile) = package.workspace.get("profile").and_then(|it| it.get("dev")) {
        let mut profile = profile.clone();
        if let Value::Table(it) = &mut profile {
            // A panic is caught, and symbols are read from objects.
            it.remove("panic");
            it.remove("lto");
        }
        manifest
            .insert("profile".to_owned(), Table::from_iter([("dev".to_owned(), profile)]).into());
    }
    if let Some(Value::Table(patch)) = package.workspace.get("patch") {
        manifest.insert("patch".to_owned(), patches(patch, package.top).into());
    }
    Ok(manifest.to_string())
}

/// `[package]` of a throwaway crate, whose targets are named one by one.
pub fn about(name: &str, version: &str) -> Table {
    let mut res = Table::new();
    res.insert("name".to_owned(), name.into());
    res.insert("version".to_owned(), version.into());
    res.insert("edition".to_owned(), "2021".into());
    res.insert("publish".to_owned(), false.into());
    for key in ["autolib", "autobins", "autoexamples", "autotests", "autobenches"] {
        res.insert(key.to_owned(), false.into());
    }
    res
}

/// The resolver of a package at the top: what it says, or what its edition has.
fn resolver_of_edition(package: &Package<'_>) -> Option<Value> {
    let top = package.workspace.get("package")?;
    if let Some(it) = top.get("resolver") {
        return Some(it.clone());
    }
    let edition = top.get("edition").and_then(|it| package.inherited("edition", it));
    Some(match edition.as_ref().and_then(Value::as_str) {
        Some("2021") => "2".into(),
        Some("2024") => "3".into(),
        _ => "1".into(),
    })
}

fn patches(patch: &Table, top: &Path) -> Table {
    let of = |it: &Value| match it {
        Value::Table(it) => {
            let each = it.iter().map(|(name, it)| (name.clone(), placed(it, top)));
            each.collect::<Table>().into()
        }
        other => other.clone(),
    };
    patch.iter().map(|(source, it)| (source.clone(), of(it))).collect()
}

fn placed(value: &Value, folder: &Path) -> Value {
    let mut res = value.clone();
    if let Some(Value::String(path)) = res.get_mut("path") {
        *path = folder.join(&*path).to_string_lossy().into_owned();
    }
    res
}

pub fn list(features: &[String]) -> Value {
    features.iter().cloned().map(Value::from).collect::<Vec<_>>().into()
}

/// A dependency on just this version, from where the lock has it.
fn requirement(locked: &Locked) -> anyhow::Result<Table> {
    let mut res = Table::new();
    res.insert("version".to_owned(), format!("={}", locked.version).into());
    if let Some(git) = locked.source.as_deref().and_then(|it| it.strip_prefix("git+")) {
        let (url, rev) =
            git.rsplit_once('#').context("Cargo.lock has a git source without a commit")?;
        let (url, query) = url.split_once('?').unwrap_or((url, ""));
        res.insert("git".to_owned(), url.into());
        match query.split_once('=') {
            Some((key @ ("branch" | "tag" | "rev"), value)) => {
                drop(res.insert(key.to_owned(), value.into()))
            }
            _ => drop(res.insert("rev".to_owned(), rev.into())),
        }
    }
    Ok(res)
}
