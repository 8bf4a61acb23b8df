//! Cargo.toml texts → the packages of the project, their crates, and the names by which each knows the others.
//!
//! Reads what is written; never asks cargo, and never looks outside the project.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::model::{Place, Problem, ProjectPath};

/// One crate: a library or a binary.
pub struct Krate {
    /// The name that stands first in `module_path!()`.
    pub name: String,
    pub root: ProjectPath,
    /// The package it is of.
    pub package: String,
    /// Whether its kinds are wanted.
    pub selected: bool,
    /// Crates that its code can name, by the name it uses.
    pub externs: BTreeMap<String, Extern>,
    /// The features that its package declares.
    pub features: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Extern {
    /// A library of this project, by its root file.
    Here(ProjectPath),
    /// A package from elsewhere, by its own name, with `_`.
    Elsewhere(String),
}

/// What code may name where no Cargo.toml says.
const USUAL: &[&str] = &["kube", "k8s_openapi", "schemars", "serde", "serde_json"];

struct Package {
    folder: String,
    name: String,
    lib: Option<(String, ProjectPath)>,
    bins: Vec<(String, ProjectPath)>,
    dependencies: BTreeMap<String, Value>,
    features: BTreeSet<String>,
}

/// Every crate of the project. A Cargo.toml that is malformed is told and left out.
pub fn crates(files: &BTreeMap<ProjectPath, String>, problems: &mut Vec<Problem>) -> Vec<Krate> {
    let mut manifests = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| path.name() == "Cargo.toml") {
        match text.parse::<Table>() {
            Ok(table) => drop(manifests.insert(folder(path), table)),
            Err(error) => problems.push(malformed(path, text, &error)),
        }
    }
    if manifests.is_empty() {
        return bare(files);
    }
    let shared = manifests
        .values()
        .find_map(|it| it.get("workspace")?.get("dependencies")?.as_table().cloned())
        .unwrap_or_default();
    let packages: Vec<Package> =
        manifests.iter().filter_map(|(folder, table)| package(folder, table, files)).collect();
    packages.iter().flat_map(|it| it.crates(&packages, &shared)).collect()
}

/// A project without Cargo.toml, as tests give it: `src/lib.rs`, `src/main.rs`, `api/src/lib.rs`.
fn bare(files: &BTreeMap<ProjectPath, String>) -> Vec<Krate> {
    let externs: BTreeMap<_, _> =
        USUAL.iter().map(|it| ((*it).to_owned(), Extern::Elsewhere((*it).to_owned()))).collect();
    let roots = files.keys().filter(|it| matches!(it.name(), "lib.rs" | "main.rs"));
    roots
        .map(|root| Krate {
            name: "project".to_owned(),
            package: "project".to_owned(),
            selected: true,
            root: root.clone(),
            externs: externs.clone(),
            features: BTreeSet::new(),
        })
        .collect()
}

fn package(
    folder: &str,
    manifest: &Table,
    files: &BTreeMap<ProjectPath, String>,
) -> Option<Package> {
    let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
    let there = |path: &str| -> Option<ProjectPath> {
        inside(folder, path).filter(|it| files.contains_key(it))
    };
    let text = |value: Option<&Value>, key: &str| -> Option<String> {
        Some(value?.get(key)?.as_str()?.to_owned())
    };
    let lib = manifest.get("lib");
    let lib_name = text(lib, "name").unwrap_or_else(|| name.replace('-', "_"));
    let lib_path = text(lib, "path").unwrap_or_else(|| "src/lib.rs".to_owned());
    let mut bins = BTreeMap::new();
    for bin in manifest.get("bin").and_then(Value::as_array).into_iter().flatten() {
        if let (Some(name), Some(path)) = (text(Some(bin), "name"), text(Some(bin), "path")) {
            bins.extend(there(&path).map(|it| (it, name)));
        }
    }
    if let Some(main) = there("src/main.rs") {
        bins.entry(main).or_insert_with(|| name.clone());
    }
    if let Some(place) = inside(folder, "src/bin") {
        for path in files.keys().filter(|it| it.is_in(&place) && it.extension() == "rs") {
            let rest = &path.as_str()[place.as_str().len() + 1..];
            let name = match rest.split('/').collect::<Vec<_>>()[..] {
                [file] => file.trim_end_matches(".rs").to_owned(),
                [name, "main.rs"] => name.to_owned(),
                _ => continue,
            };
            bins.entry(path.clone()).or_insert(name);
        }
    }
    Some(Package {
        folder: folder.to_owned(),
        lib: there(&lib_path).map(|it| (lib_name, it)),
        bins: bins.into_iter().map(|(path, name)| (name.replace('-', "_"), path)).collect(),
        dependencies: dependencies(manifest),
        features: features(manifest),
        name,
    })
}

fn dependencies(manifest: &Table) -> BTreeMap<String, Value> {
    let mut res = BTreeMap::new();
    let mut tables: Vec<&Table> = Vec::new();
    tables.extend(manifest.get("dependencies").and_then(Value::as_table));
    for target in manifest.get("target").and_then(Value::as_table).into_iter().flatten() {
        tables.extend(target.1.get("dependencies").and_then(Value::as_table));
    }
    for (name, value) in tables.into_iter().flatten() {
        res.entry(name.clone()).or_insert_with(|| value.clone());
    }
    res
}

/// Declared features, and the implicit ones of optional dependencies.
fn features(manifest: &Table) -> BTreeSet<String> {
    let declared = manifest.get("features").and_then(Value::as_table).into_iter().flatten();
    let optional = dependencies(manifest).into_iter().filter_map(|(name, value)| {
        value.get("optional").and_then(Value::as_bool).unwrap_or(false).then_some(name)
    });
    declared.map(|(name, _)| name.clone()).chain(optional).collect()
}

impl Package {
    fn crates(&self, packages: &[Self], shared: &Table) -> Vec<Krate> {
        let mut externs: BTreeMap<String, Extern> = BTreeMap::new();
        for (name, value) in &self.dependencies {
            externs.insert(name.replace('-', "_"), self.extern_(name, value, packages, shared));
        }
        let mut res = Vec::new();
        let krate = |name: &str, root: &ProjectPath, externs: &BTreeMap<_, _>| Krate {
            name: name.to_owned(),
            package: self.name.clone(),
            selected: true,
            root: root.clone(),
            externs: externs.clone(),
            features: self.features.clone(),
        };
        if let Some((name, root)) = &self.lib {
            res.push(krate(name, root, &externs));
            externs.insert(name.clone(), Extern::Here(root.clone()));
        }
        res.extend(self.bins.iter().map(|(name, root)| krate(name, root, &externs)));
        res
    }

    fn extern_(&self, name: &str, value: &Value, packages: &[Self], shared: &Table) -> Extern {
        let inherited = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
        let (value, folder) = match shared.get(name) {
            Some(shared) if inherited => (shared, ""),
            _ => (value, self.folder.as_str()),
        };
        let package = value.get("package").and_then(Value::as_str).unwrap_or(name);
        let path = value.get("path").and_then(Value::as_str);
        let here = path.and_then(|it| joined(folder, it)).and_then(|folder| {
            let it = packages.iter().find(|it| it.folder == folder && it.name == package)?;
            Some(it.lib.as_ref()?.1.clone())
        });
        match (here, path) {
            (Some(root), _) => Extern::Here(root),
            // Another crate under a well-known name is not the well-known crate.
            (None, Some(_)) => Extern::Elsewhere(format!("path/{package}")),
            (None, None) if value.get("git").is_some() => {
                Extern::Elsewhere(format!("git/{package}"))
            }
            (None, None) => Extern::Elsewhere(package.replace('-', "_")),
        }
    }
}

fn folder(path: &ProjectPath) -> String {
    path.parent().map_or_else(String::new, |it| it.to_string())
}

fn inside(folder: &str, path: &str) -> Option<ProjectPath> {
    joined(folder, path)?.parse().ok()
}

/// A folder and a relative path, with `.` and `..` taken out; none where it leaves the project.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

pub fn malformed(path: &ProjectPath, text: &str, error: &toml::de::Error) -> Problem {
    let before = &text[..error.span().map_or(0, |it| it.start).min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |it| it.chars().count()) + 1;
    Problem {
        way: Vec::new(),
        place: Place { path: path.clone(), line, column },
        message: format!("does not parse: {}", error.message().trim()),
        hint: None,
    }
}
