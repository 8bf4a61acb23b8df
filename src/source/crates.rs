//! Cargo.toml texts → the packages of the project, their crates, and the names by which each knows the others.
//!
//! Reads what is written; never asks cargo, and never looks outside the project.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::library::Texts;
use super::workspace::Manifest;
use super::{Request, targets};
use crate::model::{Place, Problem, SourcePath, Target, below};

/// One crate: a library or a binary.
pub struct Krate {
    /// The name that stands first in `module_path!()`.
    pub name: String,
    pub root: SourcePath,
    /// The folder of its package; empty at the top.
    pub folder: String,
    pub target: Target,
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
    Here(SourcePath),
    /// A package from elsewhere, by its own name, with `_`.
    Elsewhere(String),
}

/// What code may name where no Cargo.toml says.
const USUAL: &[&str] = &["kube", "k8s_openapi", "schemars", "serde", "serde_json"];

struct Package {
    folder: String,
    name: String,
    lib: Option<(String, SourcePath)>,
    programs: Vec<(String, SourcePath)>,
    examples: Vec<(String, SourcePath)>,
    dependencies: BTreeMap<String, Value>,
    features: BTreeSet<String>,
    selected: bool,
}

/// Every crate of the members.
pub fn crates(
    texts: &Texts<'_>,
    members: &BTreeMap<String, Manifest>,
    request: &Request,
) -> Vec<Krate> {
    if members.is_empty() {
        return bare(texts);
    }
    let shared = members.get("").and_then(|it| it.table.get("workspace")?.get("dependencies"));
    let shared = shared.and_then(Value::as_table).cloned().unwrap_or_default();
    let packages: Vec<Package> = members
        .iter()
        .filter_map(|(folder, it)| package(folder, &it.table, texts, request))
        .collect();
    packages.iter().flat_map(|it| it.crates(&packages, &shared)).collect()
}

/// A project without Cargo.toml, as tests give it: `src/lib.rs`, `src/main.rs`, `api/src/lib.rs`.
fn bare(texts: &Texts<'_>) -> Vec<Krate> {
    let externs: BTreeMap<_, _> =
        USUAL.iter().map(|it| ((*it).to_owned(), Extern::Elsewhere((*it).to_owned()))).collect();
    let files = texts.below("");
    let roots = files.iter().filter(|it| matches!(it.name(), "lib.rs" | "main.rs"));
    roots
        .map(|root| Krate {
            name: "project".to_owned(),
            folder: String::new(),
            target: Target::Library,
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
    texts: &Texts<'_>,
    request: &Request,
) -> Option<Package> {
    let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
    let targets = |kind| targets::read(&kind, folder, manifest, &name, texts);
    Some(Package {
        folder: folder.to_owned(),
        lib: targets::library(folder, manifest, &name, texts),
        programs: targets(targets::BINARIES),
        examples: if request.examples { targets(targets::EXAMPLES) } else { Vec::new() },
        dependencies: dependencies(manifest),
        features: features(manifest),
        selected: request.packages.is_empty() || request.packages.contains(&name),
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
        let krate = |name: &str, root: &SourcePath, externs: &BTreeMap<_, _>| Krate {
            name: name.to_owned(),
            folder: self.folder.clone(),
            target: Target::Library,
            selected: self.selected,
            root: root.clone(),
            externs: externs.clone(),
            features: self.features.clone(),
        };
        if let Some((name, root)) = &self.lib {
            res.push(krate(name, root, &externs));
            externs.insert(name.clone(), Extern::Here(root.clone()));
        }
        let beside_library = self.lib.is_some();
        for (targets, target) in [
            (&self.programs, Target::Program { beside_library }),
            (&self.examples, Target::Example { beside_library }),
        ] {
            let each = targets.iter().map(|(name, root)| krate(name, root, &externs));
            res.extend(each.map(|it| Krate { target, ..it }));
        }
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
        let here = path.map(|it| below(folder, it)).and_then(|folder| {
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

pub fn malformed(path: &SourcePath, text: &str, error: &toml::de::Error) -> Problem {
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
