//! A declared kind: its attribute, how code names its struct, and its CRD.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

pub use crate::attributes::summary::Storage;
pub use crate::cargo::Target;
use crate::text::{FieldNames, FieldPlaces, FieldTypes, Place, Problem, SourcePath, Unreadable};

/// One version of a kind, as `#[derive(CustomResource)]` declares it.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The struct that kube's derive generates; the struct that carries `#[kube(…)]`, where that attribute cannot
    /// be read far enough.
    pub name: String,
    /// From `#[kube(…)]`, as far as it can be read.
    pub group: Option<String>,
    pub version: Option<String>,
    pub kind: Option<String>,
    /// None where a macro or a condition may say it.
    pub namespaced: Option<bool>,
    /// The place of the struct with `#[kube(…)]`.
    pub place: Place,
    pub rust_path: RustPath,
    /// True if the crate has the kind for certain: not where its `#[kube(…)]` cannot be read, or a `cfg` is on it that
    /// the source does not settle.
    pub is_certain: bool,
    pub storage: Storage,
    /// The CRD of this one version, equal to what `crd()` of the generated struct returns; or every reason why
    /// that is not known.
    pub crd: Result<CustomResourceDefinition, Vec<Problem>>,
    /// The places of the CRD's fields, by their names from the root of the schema: `["spec", "replicas"]`.
    /// Lists and maps add no name of their own. Items of `#[kube(…)]` have the JSON pointer of what they set in the
    /// version as their only name: `["/additionalPrinterColumns/0"]`. Empty where the CRD is not read.
    pub field_places: FieldPlaces,
    /// The names of the structs and enums that fields have as their types, or as what their lists and maps hold, by the
    /// same paths.
    pub field_types: FieldTypes,
    /// The fields that serde writes as `null` if they are `None`, by the same paths.
    pub null_fields: FieldNames,
    /// The types of fields that do not read every value, by the same paths.
    pub unreadable: Unreadable,
}

impl Kind {
    /// Returns whether both may be versions of one kind: their groups and kinds are equal, as far as they are known.
    pub fn may_be_version_of(&self, other: &Self) -> bool {
        let agree = |one: &Option<String>, other: &Option<String>| match (one, other) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        agree(&self.group, &other.group) && agree(&self.kind, &other.kind)
    }
}

/// The struct that kube's derive generates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustPath {
    pub krate: Crate,
    /// The path from the crate's root to where the struct is defined: `["v1", "Backup"]`. It may be private.
    pub path: Vec<String>,
}

/// One crate that is read for kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crate {
    /// The name that code knows it by.
    pub name: String,
    /// The folder of its package, seen from the workspace's; empty at the top.
    pub folder: String,
    pub root: SourcePath,
    pub target: Target,
    /// The features of its package that are on, and those of dependencies (`a/b`) that [`Options`](crate::Options)
    /// turns on.
    pub features: Vec<String>,
}
