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
mod derives;
mod expand;
mod files;
mod folder;
mod foreign;
mod inert;
mod library;
mod macros;
mod model;
mod names;
mod outside;
mod packages;
mod panics;
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

use std::collections::BTreeSet;
use std::rc::Rc;

pub use builtin::kubernetes::ReadFile;
pub use library::Library;
pub use packages::{Lock, Locked};

use crates::Extern;
use library::Texts;
pub use model::*;
use packages::Packages;
pub use source_path::NotASourcePath;
use world::World;

/// What of a workspace is wanted.
#[derive(Debug, Default)]
pub struct Request {
    /// The packages whose kinds are wanted; where there is none, all members'.
    pub packages: Vec<String>,
    /// The modules whose kinds are wanted, with all below them; where there is none, all.
    pub modules: Vec<String>,
    /// Kinds of example targets are wanted too.
    pub examples: bool,
    /// The way by which code can name each kind is wanted.
    pub declared: bool,
    /// Types that are kinds, by their paths from outside of their crates, whatever the source tells of them.
    pub types: Vec<String>,
    /// Features that are on, as cargo's flags have them.
    pub features: Vec<String>,
    pub all_features: bool,
    pub no_default_features: bool,
}

/// What a workspace says, and what of it could not be read.
#[derive(Debug, Default)]
pub struct Reading {
    /// Every version of every kind, in the order of their files.
    pub resources: Vec<CustomResource>,
    /// What was read, and will not do what it looks like.
    pub warnings: Vec<Problem>,
    pub problems: Vec<Problem>,
    /// Every kind that is declared, read or refused, with its group.
    pub kinds: BTreeSet<KindName>,
    /// Those of them that cannot be read in all of their versions.
    pub refused: BTreeSet<KindName>,
    /// The members of the workspace, by name.
    pub members: BTreeSet<String>,
    /// The members' folders; none where there is no Cargo.toml.
    pub folders: Vec<String>,
    /// Where code finds each kind, read or refused; empty unless it was asked for.
    pub declared: Vec<Declared>,
    /// Types that were asked for and that begin with no crate here.
    pub unknown_types: Vec<String>,
    /// Features that were asked for and that no package has.
    pub unknown_features: Vec<String>,
    /// Modules that were asked for and are not there.
    pub unknown_modules: Vec<String>,
}

/// Reads a cargo workspace: everything that can be read, and what cannot, with its place.
pub fn workspace(library: &dyn Library, request: &Request) -> Reading {
    let mut problems = Vec::new();
    let texts = Texts::new(library);
    let members = workspace::members(&texts, &mut problems);
    let packages = Packages::new(&texts, &members, request, &mut problems);
    let crates = match members.is_empty() {
        true => crates::bare(&texts),
        false => crates::crates(&packages),
    };
    let mut world = World::with(&texts, crates, versions::behaviour(&packages), &mut problems);
    world.only.clone_from(&request.modules);
    let kubernetes = packages::kubernetes(&packages);
    world.keeps_order = versions::keeps_order(&packages);
    world.kubernetes = kubernetes.types;
    let mut world = Rc::new(world);
    let mut read = schema::resources(&world);
    // Each time around at least one package more is read, of those that are locked.
    while Rc::get_mut(&mut world).is_some_and(|it| load(it, &packages)) {
        read = schema::resources(&world);
    }
    let mut declared = if request.declared { declared::declared(&world) } else { Vec::new() };
    let (said, unknown_types) = declared::said(&world, &request.types);
    let known =
        |it: &Declared| declared.iter().any(|other| other.root == it.root && other.path == it.path);
    let said: Vec<Declared> = said.into_iter().filter(|it| !known(it)).collect();
    declared.extend(said);
    declared.iter_mut().for_each(|it| it.features = packages.built_with(&it.folder));
    if !read.kinds.is_empty() || !read.problems.is_empty() {
        problems.extend(versions::check(&packages));
        let manifest = members.values().next().filter(|_| !packages.is_locked());
        problems.extend(manifest.map(|it| Problem {
            place: Place { path: it.path.clone(), line: 1, column: 1 },
            message: "nothing is locked: which versions write the CRDs is not known".to_owned(),
            way: Vec::new(),
            hint: Some("run `cargo generate-lockfile`, which writes Cargo.lock".to_owned()),
        }));
        problems.extend(kubernetes.problem.filter(|_| read.kubernetes));
    }
    problems.extend(read.problems);
    problems.extend(texts.problems.take());
    problems.sort();
    problems.dedup();
    Reading {
        resources: read.resources,
        warnings: read.warnings,
        problems,
        kinds: read.kinds,
        refused: read.refused,
        unknown_types,
        unknown_features: packages.unknown_features(),
        unknown_modules: world.unknown_modules(),
        members: members.values().filter_map(|it| it.name().map(str::to_owned)).collect(),
        folders: members.keys().cloned().collect(),
        declared,
    }
}

/// The text of every Rust file below a folder, and what of them cannot be read.
pub fn rust_files(
    library: &dyn Library,
    folder: &str,
) -> (Vec<(SourcePath, Rc<str>)>, Vec<Problem>) {
    let texts = Texts::new(library);
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

/// Reads a project in a map.
#[cfg(test)]
fn read(
    files: &std::collections::BTreeMap<SourcePath, String>,
) -> (Vec<CustomResource>, Vec<Problem>) {
    let reading = read_all(files);
    (reading.resources, reading.problems)
}

#[cfg(test)]
fn read_all(files: &std::collections::BTreeMap<SourcePath, String>) -> Reading {
    let request = Request::default();
    let mut files = files.clone();
    // What is locked is nothing that these tests are about, unless they say so.
    files
        .entry(SourcePath::fixed("Cargo.lock"))
        .or_insert_with(|| "[[package]]\nname = \"other\"\nversion = \"1.0.0\"\n".to_owned());
    crate::stack::with_room(|| workspace(&files, &request))
}
