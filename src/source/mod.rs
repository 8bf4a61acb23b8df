//! Rust text → what the operator is: its custom resources with their schemas, and its permissions.
//!
//! Given the text of every Rust file, of Cargo.toml and Cargo.lock; never touches a disk, never runs cargo.
//! What kube's `crd()` would print is given exactly, or refused with its place. Of the crates that decide
//! what is printed, the run-time half is called; only what their derives do at compile time is done here.

mod attributes;
mod builtin;
mod cfg;
mod comments;
mod crates;
mod declared;
mod defaults;
mod derives;
mod eval;
mod expand;
mod files;
mod folder;
mod foreign;
mod inert;
mod library;
mod macros;
mod marker;
mod names;
mod panics;
mod schema;
mod syntax;
mod targets;
#[cfg(test)]
mod tests;
mod types;
mod values;
mod versions;
mod workspace;
mod world;

use std::collections::{BTreeMap, BTreeSet};

pub use library::Library;

use crate::model::{CustomResource, Declared, KindName, Operator, Problem, SourcePath, below};
use library::Texts;
use world::World;

/// What of a workspace is wanted.
#[derive(Debug, Default)]
pub struct Request {
    /// The packages whose kinds are wanted; where there is none, all members'.
    pub packages: Vec<String>,
    /// Kinds of example targets are wanted too.
    pub examples: bool,
    /// Permissions are wanted too.
    pub rules: bool,
    /// The way by which code can name each kind is wanted.
    pub declared: bool,
}

/// What a workspace says, and what of it could not be read.
#[derive(Debug, Default)]
pub struct Reading {
    pub operator: Operator,
    pub problems: Vec<Problem>,
    /// Every kind that is declared, read or refused, with its group.
    pub kinds: BTreeSet<KindName>,
    /// Those of them that cannot be read in all of their versions.
    pub refused: BTreeSet<KindName>,
    /// The members of the workspace, by name.
    pub members: BTreeSet<String>,
    /// Where code finds each kind, read or refused; empty unless it was asked for.
    pub declared: Vec<Declared>,
}

/// Reads a cargo workspace: everything that can be read, and what cannot, with its place.
pub fn workspace(library: &dyn Library, request: &Request) -> Reading {
    let mut problems = Vec::new();
    let texts = Texts::new(library);
    let members = workspace::members(&texts, &mut problems);
    let mut rules = Vec::new();
    if request.rules {
        let folders = members.keys().map(|it| below(it, "src"));
        let folders: Vec<String> =
            if members.is_empty() { vec![String::new()] } else { folders.collect() };
        for path in folders.iter().flat_map(|it| texts.below(it)) {
            let Some(text) = texts.get(&path) else { continue };
            for comment in comments::comments(&text) {
                match marker::rule(&path, &comment) {
                    Ok(rule) => rules.extend(rule),
                    Err(problem) => problems.push(problem),
                }
            }
        }
    }
    let crates = crates::crates(&texts, &members, request);
    let world = World::with(&texts, crates, &mut problems);
    let declared = if request.declared { declared::declared(&world) } else { Vec::new() };
    let read = schema::resources(world);
    if !read.kinds.is_empty() || !read.problems.is_empty() {
        let mut files: BTreeMap<SourcePath, String> = BTreeMap::new();
        let lock = SourcePath::fixed("Cargo.lock");
        files.extend(texts.get(&lock).map(|it| (lock, it.to_string())));
        files.extend(members.values().map(|it| (it.path.clone(), it.text.to_string())));
        problems.extend(versions::check(&files, read.kubernetes));
    }
    problems.extend(read.problems);
    problems.extend(texts.problems.take());
    problems.sort();
    problems.dedup();
    Reading {
        operator: Operator { resources: read.resources, rules, warnings: read.warnings },
        problems,
        kinds: read.kinds,
        refused: read.refused,
        members: members.values().filter_map(|it| it.name().map(str::to_owned)).collect(),
        declared,
    }
}

impl Reading {
    /// The kinds that were read in all of their versions.
    pub fn whole(&self) -> Operator {
        let refused = |it: &CustomResource| self.refused.iter().any(|name| name.may_be(it));
        let mut operator = self.operator.clone();
        operator.resources.retain(|it| !refused(it));
        operator
    }
}

/// Reads a project in a map.
#[cfg(test)]
fn read(files: &BTreeMap<SourcePath, String>) -> (Operator, Vec<Problem>) {
    let request = Request { rules: true, ..Request::default() };
    crate::with_room(|| {
        let Reading { operator, problems, .. } = workspace(files, &request);
        (operator, problems)
    })
}
