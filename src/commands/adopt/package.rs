//! The package that is the operator's program.

use toml::Table;

use crate::{
    disk::Root,
    project::{Crate, Target},
};
use diagnostics::Hint as _;
use model::{ProjectPath, Tree as _};

/// The given one, which must have a program; else the only one with a program that depends on kube, or that of the top.
pub fn of(root: &Root, crates: &[Crate], given: Option<&str>) -> anyhow::Result<String> {
    let mut programs = Vec::new();
    for it in crates.iter().filter(|it| matches!(it.target, Target::Program { .. })) {
        let manifest = match it.folder.as_str() {
            "" => ProjectPath::fixed("Cargo.toml"),
            folder => folder.parse::<ProjectPath>()?.join("Cargo.toml")?,
        };
        let manifest: Table = root.read(&manifest)?.unwrap_or_default().parse()?;
        let name = manifest.get("package").and_then(|it| it.get("name")?.as_str());
        let Some(name) = name.map(str::to_owned) else { continue };
        if !programs.iter().any(|(other, _, _): &(String, bool, bool)| *other == name) {
            programs.push((name, has_kube(&manifest), it.folder.is_empty()));
        }
    }
    let names = || programs.iter().map(|it| it.0.as_str()).collect::<Vec<_>>().join(", ");
    if programs.is_empty() {
        return Err(anyhow::format_err!("no package here has a program"))
            .hint("an operator is a program with src/main.rs or a `[[bin]]`");
    }
    if let Some(given) = given {
        return match programs.iter().any(|it| it.0 == given) {
            true => Ok(given.to_owned()),
            false => Err(anyhow::format_err!("no package `{given}` here has a program"))
                .hint(format!("these have one: {}", names())),
        };
    }
    let with_kube: Vec<_> = programs.iter().filter(|it| it.1).collect();
    match with_kube.as_slice() {
        [one] => return Ok(one.0.clone()),
        _ => {
            if let Some(top) = with_kube.iter().find(|it| it.2) {
                return Ok(top.0.clone());
            }
        }
    }
    match programs.as_slice() {
        [one] => Ok(one.0.clone()),
        _ => Err(anyhow::format_err!("several packages may be the operator: {}", names()))
            .hint("choose one: `--package NAME`"),
    }
}

/// Whether a package depends on kube by itself.
fn has_kube(manifest: &Table) -> bool {
    let dependencies = manifest.get("dependencies").and_then(|it| it.as_table());
    dependencies.into_iter().flatten().any(|(key, it)| {
        let name = it.get("package").and_then(|it| it.as_str()).unwrap_or(key);
        ["kube", "kube-runtime", "kubert"].contains(&name)
    })
}
