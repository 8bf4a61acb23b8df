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
mod world;

use std::collections::BTreeMap;

use crate::model::{Operator, Problem, ProjectPath};
use world::World;

/// Reads everything that can be read, and tells everything that cannot.
pub fn read(files: &BTreeMap<ProjectPath, String>) -> (Operator, Vec<Problem>) {
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
    let (resources, refused, kubernetes) = schema::resources(world);
    if !resources.is_empty() || !refused.is_empty() {
        problems.extend(versions::check(files, kubernetes));
    }
    problems.extend(refused);
    problems.sort();
    problems.dedup();
    (Operator { resources, rules }, problems)
}
