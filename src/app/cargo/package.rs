//! A package of the user: its Cargo.toml, with what it inherits from its workspace. Pure: values in, values out.

use std::path::Path;

use anyhow::Context as _;
use toml::{Table, Value};

/// The crate that needs a feature for the version of Kubernetes.
pub const KUBERNETES: &str = "k8s-openapi";

/// The user's package.
pub struct UserPackage<'a> {
    pub folder: &'a Path,
    pub manifest: &'a Table,
    /// The folder and the content of its workspace's Cargo.toml; the package's own if it is in no workspace.
    pub top: &'a Path,
    pub workspace: &'a Table,
}

impl UserPackage<'_> {
    pub fn name(&self) -> anyhow::Result<&str> {
        let name = self.manifest.get("package").and_then(|value| value.get("name")?.as_str());
        name.context("Cargo.toml has no package name")
    }

    pub fn version(&self) -> String {
        let own = self.manifest.get("package").and_then(|value| value.get("version"));
        let version = own.and_then(|value| self.inherited("version", value));
        version
            .and_then(|version| version.as_str().map(str::to_owned))
            .unwrap_or_else(|| "0.0.0".to_owned())
    }

    /// Returns the value of a key of `[package]`, which may be inherited from the workspace.
    pub fn inherited(&self, key: &str, value: &Value) -> Option<Value> {
        let shared = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
        if shared {
            self.workspace.get("workspace")?.get("package")?.get(key).cloned()
        } else {
            Some(value.clone())
        }
    }

    /// Dependencies with what they inherit, and with absolute paths.
    pub fn dependencies(&self, table: &Table) -> Table {
        table
            .iter()
            .map(|(name, value)| (name.clone(), self.resolve_dependency(name, value)))
            .collect()
    }

    fn resolve_dependency(&self, name: &str, value: &Value) -> Value {
        let shared = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
        if !shared {
            return with_absolute_path(value, self.folder);
        }
        let found =
            self.workspace.get("workspace").and_then(|value| value.get("dependencies")?.get(name));
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
                // A member cannot turn off what the workspace turns on.
                ("default-features", Value::Boolean(false)) => {}
                _ => drop(res.insert(key.clone(), it.clone())),
            }
        }
        with_absolute_path(&res.into(), self.top)
    }

    /// k8s-openapi in the dev-dependencies: a library leaves the version of Kubernetes to programs, and does not compile if
    /// none is selected.
    pub fn kubernetes_of_developers(&self) -> Option<(String, Value)> {
        let table = self.manifest.get("dev-dependencies")?.as_table()?;
        let name = |key: &str, value: &Value| {
            value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
        };
        self.dependencies(table)
            .into_iter()
            .find(|(key, dependency)| name(key, dependency) == KUBERNETES)
    }

    /// Returns the resolver of its workspace: the declared one, or that of its edition.
    pub fn resolver(&self) -> Option<Value> {
        let declared = |table: &str| self.workspace.get(table)?.get("resolver").cloned();
        if let Some(it) = declared("workspace").or_else(|| declared("package")) {
            return Some(it);
        }
        let edition = self.workspace.get("package")?.get("edition");
        let edition = edition.and_then(|value| self.inherited("edition", value));
        Some(match edition.as_ref().and_then(Value::as_str) {
            Some("2021") => "2".into(),
            Some("2024") => "3".into(),
            _ => "1".into(),
        })
    }

    /// Returns the workspace's `[patch]`, with absolute paths.
    pub fn patches(&self) -> Option<Table> {
        let patch = self.workspace.get("patch")?.as_table()?;
        let of = |entry: &Value| match entry {
            Value::Table(entry) => {
                let each = entry
                    .iter()
                    .map(|(name, value)| (name.clone(), with_absolute_path(value, self.top)));
                each.collect::<Table>().into()
            }
            other => other.clone(),
        };
        Some(patch.iter().map(|(source, value)| (source.clone(), of(value))).collect())
    }
}

fn with_absolute_path(value: &Value, folder: &Path) -> Value {
    let mut res = value.clone();
    if let Some(Value::String(path)) = res.get_mut("path") {
        *path = folder.join(&*path).to_string_lossy().into_owned();
    }
    res
}
