//! The package that is the operator's program.

use std::collections::{BTreeMap, BTreeSet};

use toml::Table;

use crate::{
    disk::Root,
    project::{Crate, Target},
};
use diagnostics::Hint as _;
use model::{ProjectPath, Tree as _};

/// Returns the given package, which must have a program; else the only one with a program that depends on kube, by
/// itself or through other members of the workspace, or that of the top.
pub fn find_operator_package(
    root: &Root,
    crates: &[Crate],
    given: Option<&str>,
) -> anyhow::Result<String> {
    let mut manifests: BTreeMap<&str, (String, Table)> = BTreeMap::new();
    for krate in crates {
        let path = match krate.folder.as_str() {
            "" => ProjectPath::fixed("Cargo.toml"),
            folder => folder.parse::<ProjectPath>()?.join("Cargo.toml")?,
        };
        let manifest: Table = root.read_text(&path)?.unwrap_or_default().parse()?;
        let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
        let Some(name) = name.map(str::to_owned) else { continue };
        manifests.insert(&krate.folder, (name, manifest));
    }
    let with_kube = depending_on_kube(manifests.values());
    let mut programs: Vec<(String, bool, bool)> = Vec::new();
    for krate in crates.iter().filter(|krate| matches!(krate.target, Target::Program { .. })) {
        let Some((name, _)) = manifests.get(krate.folder.as_str()) else { continue };
        if !programs.iter().any(|program| program.0 == *name) {
            programs.push((
                name.clone(),
                with_kube.contains(name.as_str()),
                krate.folder.is_empty(),
            ));
        }
    }
    let names = |all: &[&(String, bool, bool)]| {
        all.iter().map(|program| program.0.as_str()).collect::<Vec<_>>().join(", ")
    };
    if programs.is_empty() {
        return Err(anyhow::format_err!("no package here has a program"))
            .hint("an operator is a program with src/main.rs or a `[[bin]]`");
    }
    if let Some(given) = given {
        return if programs.iter().any(|program| program.0 == given) {
            Ok(given.to_owned())
        } else {
            Err(anyhow::format_err!("no package `{given}` here has a program"))
                .hint(format!("these have one: {}", names(&programs.iter().collect::<Vec<_>>())))
        };
    }
    let with_kube: Vec<_> = programs.iter().filter(|program| program.1).collect();
    match with_kube.as_slice() {
        [one] => return Ok(one.0.clone()),
        _ => {
            if let Some(top) = with_kube.iter().find(|program| program.2) {
                return Ok(top.0.clone());
            }
        }
    }
    let candidates = if with_kube.is_empty() { programs.iter().collect() } else { with_kube };
    match candidates.as_slice() {
        [one] => Ok(one.0.clone()),
        all => Err(anyhow::format_err!("several packages may be the operator: {}", names(all)))
            .hint("choose one: `--package NAME`"),
    }
}

/// The packages that depend on kube, by themselves or through each other.
fn depending_on_kube<'a>(
    packages: impl Iterator<Item = &'a (String, Table)> + Clone,
) -> BTreeSet<&'a str> {
    let mut with_kube = BTreeSet::from(["kube", "kube-runtime", "kubert"]);
    loop {
        let new = packages
            .clone()
            .filter(|package| dependency_names(&package.1).any(|name| with_kube.contains(name)));
        let new: BTreeSet<&str> = new.map(|package| package.0.as_str()).collect();
        if new.is_subset(&with_kube) {
            return with_kube;
        }
        with_kube.extend(new);
    }
}

/// The names of the packages that a manifest depends on.
fn dependency_names(manifest: &Table) -> impl Iterator<Item = &str> {
    let all = manifest
        .get("dependencies")
        .and_then(|dependencies| dependencies.as_table())
        .into_iter()
        .flatten();
    all.map(|(key, dependency)| {
        dependency.get("package").and_then(|package| package.as_str()).unwrap_or(key)
    })
}
