//! [`Operator`] in, Kubernetes objects out. Pure. One file per generator.

use std::collections::BTreeMap;

use crate::{
    model::{Kind, Operator, Problem, ProjectPath, Version},
    yaml::{self, Value},
};

/// Kubernetes objects and where they live in the project.
#[derive(Debug)]
pub struct Manifest {
    pub path: ProjectPath,
    pub objects: Vec<Value>,
    /// Where a change belongs.
    pub edit: String,
}

impl Manifest {
    pub fn to_text(&self) -> String {
        self.objects.iter().map(|it| format!("---\n{}", yaml::to_text(it))).collect()
    }
}

pub fn generate(_: &Operator) -> (Vec<Manifest>, Vec<Problem>, Vec<String>) {
    (Vec::new(), Vec::new(), Vec::new())
}

/// The stored version of each kind.
pub fn storage(operator: &Operator) -> BTreeMap<(String, Kind), Version> {
    operator
        .resources
        .iter()
        .rev()
        .map(|it| ((it.group.clone(), it.kind.clone()), it.version))
        .collect()
}
