//! Generates Kubernetes objects from an operator's kinds and rules. Each generator has a file.
//!
//! Knows nothing about Rust: the input is an [`Operator`], the output are [`Manifest`]s, and problems with their places.

mod conversions;
mod crd;
mod example;
mod lints;
mod rbac;
mod versions;
mod webhook;

pub use crd::{parse, path as crd_path};
pub use example::example;
pub use rbac::{FILE as ROLES, MANAGER_ROLE, without_rules};
pub use versions::{Version, versions};
pub use webhook::FILE as WEBHOOKS;

use std::collections::BTreeMap;

use crate::project::{Operator, Problem};
use go_data::yaml::{self, Value};
use model::ProjectPath;

/// One file of objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    pub path: ProjectPath,
    pub objects: Vec<Value>,
    /// The file in which to make changes; completes "Do not edit: change … instead."
    pub edit: String,
}

impl Manifest {
    pub fn to_text(&self) -> String {
        self.objects.iter().map(|object| format!("---\n{}", yaml::to_text(object))).collect()
    }
}

/// The output of a generator: files, problems that prevent files, and warnings.
#[derive(Debug, Default, PartialEq)]
pub struct GeneratedManifests {
    pub manifests: Vec<Manifest>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

/// Options that change what kube would generate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrdOptions {
    /// The maximum length of descriptions in CRDs, in bytes.
    pub longest_description: Option<usize>,
}

const GENERATORS: &[fn(&Operator, &CrdOptions) -> GeneratedManifests] =
    &[crds, conversions::generate, rbac::generate, webhook::generate];

/// Returns the CustomResourceDefinitions alone.
pub fn crds(operator: &Operator, crd_options: &CrdOptions) -> GeneratedManifests {
    let mut manifests = crd::generate(operator);
    if let Some(longest) = crd_options.longest_description {
        for crd in manifests.manifests.iter_mut().flat_map(|manifest| &mut manifest.objects) {
            lints::shorten(crd, longest);
        }
    }
    manifests.warnings.extend(lints::lints(operator, &manifests.manifests));
    manifests
}

/// Returns every manifest of the operator.
pub fn generate(operator: &Operator, crd_options: &CrdOptions) -> GeneratedManifests {
    let mut res = GeneratedManifests::default();
    for generator in GENERATORS {
        let GeneratedManifests { manifests, problems, warnings } = generator(operator, crd_options);
        res.manifests.extend(manifests);
        res.problems.extend(problems);
        res.warnings.extend(warnings);
    }
    res
}

/// Returns the stored version of each kind, by group and kind. Kinds without a clear one are left out.
pub fn storage(operator: &Operator) -> BTreeMap<(&str, &str), &str> {
    fn stored_version<'a>(versions: &[Version<'a>]) -> Option<&'a str> {
        Some(versions::stored(versions).ok()?.name())
    }
    let all = versions::kinds(operator).into_iter();
    all.filter_map(|(key, versions)| Some((key, stored_version(&versions)?))).collect()
}
