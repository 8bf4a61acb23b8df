//! The Rust source of a project → what the operator is: its custom resources, by `kube-crd-source`, and its
//! permissions, which stand in comments.

mod comments;
pub mod kinds;
mod marker;

use std::collections::BTreeSet;

pub use kinds::BuiltInKind;
pub use kube_crd_source::{KindName, Library, Lock, Locked, ReadFile, Request};

use crate::model::{CustomResource, Declared, Operator, Problem, Schema, below};

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
    /// Types that were asked for and that begin with no crate here.
    pub unknown_types: Vec<String>,
    /// Features that were asked for and that no package has.
    pub unknown_features: Vec<String>,
    /// Modules that were asked for and are not there.
    pub unknown_modules: Vec<String>,
}

/// Reads a cargo workspace: everything that can be read, and what cannot, with its place.
pub fn workspace(library: &dyn Library, request: &Request, rules: bool) -> Reading {
    let read = kube_crd_source::workspace(library, request);
    let mut problems = read.problems;
    let mut operator = Operator { warnings: read.warnings, ..Operator::default() };
    for it in read.resources {
        match named(it) {
            Ok(it) => operator.resources.push(it),
            Err(problem) => problems.push(problem),
        }
    }
    if rules {
        let folders: Vec<String> = read.folders.iter().map(|it| below(it, "src")).collect();
        let folders = if folders.is_empty() { vec![String::new()] } else { folders };
        for folder in folders {
            let (files, unread) = kube_crd_source::rust_files(library, &folder);
            problems.extend(unread);
            for (path, text) in files {
                for comment in comments::comments(&text) {
                    match marker::rule(&path, &comment) {
                        Ok(rule) => operator.rules.extend(rule),
                        Err(problem) => problems.push(problem),
                    }
                }
            }
        }
    }
    problems.sort();
    problems.dedup();
    Reading {
        operator,
        problems,
        kinds: read.kinds,
        refused: read.refused,
        members: read.members,
        declared: read.declared,
        unknown_types: read.unknown_types,
        unknown_features: read.unknown_features,
        unknown_modules: read.unknown_modules,
    }
}

/// The resource with names that are checked.
fn named(it: kube_crd_source::CustomResource) -> Result<CustomResource, Problem> {
    let refuse = |what: &str, text: &str, why: crate::model::Refusal| Problem {
        place: it.place.clone(),
        message: format!("{what} `{text}` {why}"),
        way: vec![it.kind.clone()],
        hint: None,
    };
    let group = it.group.parse().map_err(|why| refuse("group", &it.group, why))?;
    let version = it.version.parse().map_err(|why| refuse("version", &it.version, why))?;
    let kind = it.kind.parse().map_err(|why| refuse("kind", &it.kind, why))?;
    let plural = it.plural.parse().map_err(|why| refuse("plural", &it.plural, why))?;
    Ok(CustomResource {
        group,
        version,
        kind,
        plural,
        singular: it.singular,
        shortnames: it.shortnames,
        categories: it.categories,
        namespaced: it.namespaced,
        labels: it.labels,
        annotations: it.annotations,
        served: it.served,
        storage: it.storage,
        deprecated: it.deprecated,
        columns: it.columns,
        selectable: it.selectable,
        status: it.status,
        scale: it.scale,
        schema: it.schema.map(|it| Schema(it.0)),
        empty: it.empty,
        place: it.place,
    })
}

/// Whether this may be a version of that resource's kind.
fn may_be(name: &KindName, it: &CustomResource) -> bool {
    name.group.as_ref().is_none_or(|group| group == it.group.as_str())
        && name.kind.as_ref().is_none_or(|kind| *kind == it.kind.to_string())
}

impl Reading {
    /// The kinds that were read in all of their versions.
    pub fn whole(&self) -> Operator {
        let refused = |it: &CustomResource| self.refused.iter().any(|name| may_be(name, it));
        let mut operator = self.operator.clone();
        operator.resources.retain(|it| !refused(it));
        operator
    }
}
