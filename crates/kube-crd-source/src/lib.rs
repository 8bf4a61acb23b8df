//! Rust text → what the operator is: its custom resources with their schemas, and its permissions.
//!
//! Given the text of every Rust file, of Cargo.toml and Cargo.lock; never touches a disk, never runs cargo.
//! What kube's `crd()` would print is given exactly, or refused with its place. Of the crates that decide
//! what is printed, the run-time half is called; only what their derives do at compile time is done here.

mod api_names;
mod attributes;
mod builtin;
mod cfg;
mod crates;
mod declared;
mod defaults;
mod derives;
mod eval;
mod files;
mod folder;
mod foreign;
mod inert;
mod kind;
mod language;
mod library;
mod local;
mod macros;
mod model;
mod names;
mod outside;
mod packages;
mod panics;
mod prune;
mod schema;
mod source_path;
pub mod stack;
mod syntax;
mod targets;
#[cfg(test)]
mod tests;
mod types;
mod values;
mod versions;
mod workspace;
mod world;

use std::collections::BTreeMap;
use std::rc::Rc;

pub use builtin::kubernetes::ReadFile;
pub use kind::{Crate, Kind, Reach, RustPath, Storage, Target};
pub use library::Sources;
pub use model::*;
pub use packages::{Lock, Locked};
pub use source_path::NotASourcePath;

use crates::Extern;
use declared::Namer;
use library::Texts;
use packages::Packages;
use world::World;

/// What to read of a workspace, and how it is built.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The packages whose kinds are read; all members where it is empty.
    pub packages: Vec<String>,
    /// The modules whose kinds are read, with all below them (`api::v1`, with or without the crate in front); all
    /// modules where it is empty.
    pub modules: Vec<String>,
    /// Read kinds of example targets too.
    pub examples: bool,
    /// Features that are on, as cargo's `--features` has them: `a`, `package/a`.
    pub features: Vec<String>,
    pub all_features: bool,
    pub no_default_features: bool,
}

/// What a workspace declares.
#[derive(Debug, Default)]
pub struct Reading {
    /// Every version of every kind, readable or not, by place.
    pub kinds: Vec<Kind>,
    /// What is wrong with the workspace as a whole, such as a kube that is not known or no Cargo.lock. Where there
    /// is a problem here, `crd` of every kind is an error that has it too.
    pub problems: Vec<Problem>,
    /// Places that may declare kinds which are not in `kinds`: macros that are not expanded, files that cannot be
    /// read.
    pub unexplored: Vec<Problem>,
    /// What is read exactly, and will not do what it looks like.
    pub warnings: Vec<Problem>,
    /// The names of the workspace's members.
    pub members: Vec<String>,
    /// The members' folders; none where there is no Cargo.toml.
    pub folders: Vec<String>,
    /// The crates that are read for kinds.
    pub crates: Vec<Crate>,
    /// Features of [`Options`] that no package has.
    pub unknown_features: Vec<String>,
    /// Modules of [`Options`] that no crate has.
    pub unknown_modules: Vec<String>,
}

/// Reads the kinds that a cargo workspace declares, each with its CRD or the reasons why it cannot be read.
///
/// Never fails as a whole: what is wrong is in the [`Reading`]. Source that nests deep needs a deep stack: call this
/// inside of [`stack::with_room`] where the source is not your own.
pub fn read(from: &dyn Sources, options: &Options) -> Reading {
    let mut problems = Vec::new();
    let texts = Texts::new(from);
    let members = workspace::members(&texts, &mut problems);
    let packages = Packages::new(&texts, &members, options, &mut problems);
    let crates = match members.is_empty() {
        true => crates::bare(&texts),
        false => crates::crates(&packages),
    };
    let mut unexplored = Vec::new();
    let mut world = World::with(&texts, crates, versions::behaviour(&packages), &mut unexplored);
    world.only.clone_from(&options.modules);
    let kubernetes = packages::kubernetes(&packages);
    world.keeps_order = versions::keeps_order(&packages);
    world.kubernetes = kubernetes.types;
    let mut world = Rc::new(world);
    let mut found = schema::kinds(&world, kubernetes.problem.as_ref());
    // Each time around at least one package more is read, of those that are locked.
    while Rc::get_mut(&mut world).is_some_and(|it| load(it, &packages)) {
        found = schema::kinds(&world, kubernetes.problem.as_ref());
    }
    unexplored.append(&mut found.unexplored);
    for it in texts.problems.take() {
        let is_code = it.place.path.as_str().ends_with(".rs");
        if is_code { &mut unexplored } else { &mut problems }.push(it);
    }
    if !(found.kinds.is_empty() && unexplored.is_empty() && problems.is_empty()) {
        problems.extend(versions::check(&packages));
        problems.extend(unlocked(&packages, &members));
    }
    for list in [&mut problems, &mut unexplored] {
        list.sort();
        list.dedup();
    }
    let crates = shown(&world, &packages);
    let namer = Namer::new(&world, &crates);
    let kinds = found.kinds.into_iter().map(|(id, crd)| namer.kind(id, withheld(crd, &problems)));
    Reading {
        kinds: kinds.collect(),
        problems,
        unexplored,
        warnings: found.warnings,
        members: members.values().filter_map(|it| it.name().map(str::to_owned)).collect(),
        folders: members.keys().cloned().collect(),
        unknown_features: packages.unknown_features(),
        unknown_modules: world.unknown_modules(),
        crates: crates
            .into_iter()
            .zip(&world.crates)
            .filter(|it| it.1.selected)
            .map(|it| it.0)
            .collect(),
    }
}

/// A CRD where nothing is wrong with the whole workspace.
fn withheld(crd: schema::Crd, problems: &[Problem]) -> schema::Crd {
    match crd {
        crd if problems.is_empty() => crd,
        Ok(_) => Err(problems.to_vec()),
        Err(own) => Err([problems, &own].concat()),
    }
}

/// That there is no Cargo.lock.
fn unlocked(
    packages: &Packages<'_>,
    members: &BTreeMap<String, Rc<workspace::Manifest>>,
) -> Option<Problem> {
    let manifest = members.values().next().filter(|_| !packages.is_locked())?;
    let message = "nothing is locked: which versions write the CRDs is not known";
    let hint = "run `cargo generate-lockfile`, which writes Cargo.lock";
    Some(Problem::new(Place::start(manifest.path.clone()), message).with_hint(hint))
}

/// The crates of a world as callers see them.
fn shown(world: &World, packages: &Packages<'_>) -> Vec<Crate> {
    let each = world.crates.iter().map(|it| Crate {
        name: it.name.clone(),
        folder: it.folder.clone(),
        root: it.root.clone(),
        target: it.target,
        features: if it.selected { packages.built_with(&it.folder) } else { Vec::new() },
    });
    each.collect()
}

/// The text of every Rust file below a folder, and what of them cannot be read.
pub fn rust_files(from: &dyn Sources, folder: &str) -> (Vec<(SourcePath, Rc<str>)>, Vec<Problem>) {
    let texts = Texts::new(from);
    let mut files = Vec::new();
    for path in texts.below(folder) {
        let before = texts.problems.borrow().len();
        match texts.get(&path) {
            Some(text) => files.push((path, text)),
            None if before == texts.problems.borrow().len() => texts.gone(path),
            None => {}
        }
    }
    (files, texts.problems.take())
}

/// Reads the crates that names led into; says whether any more is known now.
fn load(world: &mut World, packages: &Packages<'_>) -> bool {
    let mut more = false;
    for path in world.included.wanted.take() {
        let text = packages.texts.get(&path);
        world.included.texts.insert(path, text);
        more = true;
    }
    for (krate, name) in world.take_sought() {
        let Some(found) = world.crates[krate].id.and_then(|it| packages.by_library(it, &name))
        else {
            continue;
        };
        let word = packages.foreign(found);
        let here = world.crates.iter().find(|it| it.word.as_ref() == Some(&word));
        let leads = match here {
            Some(it) => Extern::Here(it.root.clone()),
            None => Extern::Elsewhere(word),
        };
        more |= world.crates[krate].externs.insert(name, leads).is_none();
        world.imports.take();
        world.aliases.take();
    }
    for word in world.take_wanted() {
        let known = world.absent.contains_key(&word)
            || world.crates.iter().any(|it| it.word.as_ref() == Some(&word));
        let Some(id) = packages.by_foreign(&word).filter(|_| !known) else { continue };
        match crates::library(packages, id) {
            Some(krate) if !packages.is_macros(id) => {
                let root = krate.root.clone();
                let before = world.crates.len();
                // What is wrong in it matters where a name leads there only.
                world.load(packages.texts, vec![krate], &mut Vec::new());
                let there = |it: &crates::Krate| Some((it.word.clone()?, it.root.clone()));
                let all: Vec<_> = world.crates[..before].iter().filter_map(there).collect();
                for (word, root) in all {
                    crates::show(&mut world.crates[before..], &word, &root);
                }
                crates::show(&mut world.crates, &word, &root);
                more = true;
            }
            None if packages.folder(id).is_none() => {
                let it = &packages.all[id];
                let version = it.version.as_ref().map(ToString::to_string).unwrap_or_default();
                let what =
                    format!("is of `{}` {version}, whose source is not on this machine", it.name);
                world.absent.insert(word, what);
                more = true;
            }
            _ => {}
        }
    }
    more
}
