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
mod defaults;
mod derives;
mod expand;
mod files;
mod foreign;
mod inert;
mod library;
mod macros;
mod marker;
mod names;
mod panics;
mod schema;
mod standard_defaults;
#[cfg(test)]
mod tests;
mod types;
mod values;
mod versions;
mod workspace;
mod world;

use std::collections::{BTreeMap, BTreeSet};

pub use library::Library;

use crate::model::{CustomResource, KindName, Operator, Problem, ProjectPath};
use world::World;

/// What of a workspace is wanted.
#[derive(Debug, Default)]
pub struct Request {
    /// The packages whose kinds are wanted; where there is none, all members'.
    pub packages: Vec<String>,
    /// Kinds of example targets are wanted too.
    pub examples: bool,
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
}

/// Reads a cargo workspace: the kinds that it declares, with their schemas.
pub fn workspace(library: &dyn Library, request: &Request) -> Reading {
    let mut problems = Vec::new();
    let members = workspace::members(library, &mut problems);
    let mut files = BTreeMap::new();
    let mut paths = vec![ProjectPath::fixed("Cargo.lock")];
    for (folder, manifest) in &members {
        files.insert(manifest.path.clone(), manifest.text.to_string());
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for inner in if request.examples { &["src", "examples"][..] } else { &["src"] } {
            let below = library.below(&ProjectPath::fixed(&format!("{start}{inner}")));
            paths.extend(below.into_iter().flatten().filter(|it| it.extension() == "rs"));
        }
    }
    for path in paths {
        match library.text(&path) {
            Ok(text) => files.extend(text.map(|it| (path, it.to_string()))),
            Err(error) => problems.push(Problem {
                place: crate::model::Place { path, line: 1, column: 1 },
                message: error.to_string(),
                way: Vec::new(),
                hint: None,
            }),
        }
    }
    let mut world = World::new(&files, &mut problems);
    for krate in &mut world.crates {
        krate.selected = request.packages.is_empty() || request.packages.contains(&krate.package);
    }
    let read = schema::resources(world);
    if !read.kinds.is_empty() {
        problems.extend(versions::check(&files, read.kubernetes));
    }
    problems.extend(read.problems);
    problems.sort();
    problems.dedup();
    Reading {
        operator: Operator { resources: read.resources, rules: Vec::new() },
        problems,
        kinds: read.kinds,
        refused: read.refused,
        members: members.values().filter_map(|it| it.name().map(str::to_owned)).collect(),
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

/// Reads everything that can be read, and tells everything that cannot.
#[cfg(test)]
fn read(files: &BTreeMap<ProjectPath, String>) -> (Operator, Vec<Problem>) {
    let Reading { operator, problems, .. } = project(files);
    (operator, problems)
}

/// Reads a project by its files: its kinds with their schemas, and its permissions.
pub fn project(files: &BTreeMap<ProjectPath, String>) -> Reading {
    let mut problems = Vec::new();
    let mut rules = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| path.extension() == "rs") {
        for comment in comments::comments(text) {
            match marker::rule(path, &comment) {
                Ok(rule) => rules.extend(rule),
                Err(problem) => problems.push(problem),
            }
        }
    }
    let world = World::new(files, &mut problems);
    let read = schema::resources(world);
    if !read.kinds.is_empty() || !read.problems.is_empty() {
        problems.extend(versions::check(files, read.kubernetes));
    }
    problems.extend(read.problems);
    problems.sort();
    problems.dedup();
    Reading {
        operator: Operator { resources: read.resources, rules },
        problems,
        kinds: read.kinds,
        refused: read.refused,
        members: BTreeSet::new(),
    }
}
