//! What the operator is → the Kubernetes objects that say so to a cluster. One file a generator.
//!
//! Knows nothing of Rust: an [`Operator`] comes in, [`Manifest`]s go out, with what cannot be said told at its place.

mod crd;
mod lints;
mod rbac;

pub use lints::{lints, shorten};

use std::collections::BTreeMap;

use crate::model::{Kind, Operator, Problem, ProjectPath, Version};
use crate::yaml::{self, Value};

/// One file of objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    pub path: ProjectPath,
    pub objects: Vec<Value>,
    /// Where an edit belongs; completes "edit …, not this".
    pub edit: String,
}

impl Manifest {
    pub fn to_text(&self) -> String {
        self.objects.iter().map(|it| format!("---\n{}", yaml::to_text(it))).collect()
    }
}

/// What a generator gives: files, what is in the way of them, and what the user should know all the same.
#[derive(Debug, Default, PartialEq)]
pub struct Generated {
    pub manifests: Vec<Manifest>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<String>,
}

const GENERATORS: &[fn(&Operator) -> Generated] = &[crd::generate, rbac::generate];

/// The CustomResourceDefinitions alone.
pub fn crds(operator: &Operator) -> Generated {
    crd::generate(operator)
}

/// Every manifest of the operator.
pub fn generate(operator: &Operator) -> (Vec<Manifest>, Vec<Problem>, Vec<String>) {
    let mut res = Generated::default();
    for generator in GENERATORS {
        let Generated { manifests, problems, warnings } = generator(operator);
        res.manifests.extend(manifests);
        res.problems.extend(problems);
        res.warnings.extend(warnings);
    }
    (res.manifests, res.problems, res.warnings)
}

/// The version in which each kind is stored, by group and kind; kinds that do not say so clearly are left out.
pub fn storage(operator: &Operator) -> BTreeMap<(String, Kind), Version> {
    crd::kinds(operator)
        .into_iter()
        .filter_map(|(key, versions)| Some((key, crd::stored(&versions).ok()?.version)))
        .collect()
}
