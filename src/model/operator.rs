use std::collections::BTreeMap;

use kube_crd_source::{Deprecation, Place, PrintColumn, Problem, Scale, Storage};

use super::{ApiGroup, Kind, Plural, Version};
use crate::yaml::Value;

/// What the source says the operator is. Knows nothing of Rust syntax, nor of YAML.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Operator {
    /// Every version of every kind, in the order of their files.
    pub resources: Vec<CustomResource>,
    /// Every `+kubebuilder:rbac:` comment, in the order of their files and lines.
    pub rules: Vec<Rule>,
    /// What was read, and will not do what it looks like.
    pub warnings: Vec<Problem>,
}

/// One version of a kind, as `#[derive(CustomResource)]` declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomResource {
    pub group: ApiGroup,
    pub version: Version,
    pub kind: Kind,
    pub plural: Plural,
    pub singular: String,
    pub shortnames: Vec<String>,
    pub categories: Vec<String>,
    pub namespaced: bool,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub served: bool,
    pub storage: Storage,
    pub deprecated: Option<Deprecation>,
    pub columns: Vec<PrintColumn>,
    /// JSON paths of selectable fields.
    pub selectable: Vec<String>,
    pub status: bool,
    pub scale: Option<Scale>,
    /// `openAPIV3Schema`; none where the source says `schema = "disabled"`.
    pub schema: Option<Schema>,
    /// What is not set is written all the same, as `categories: []`: kube before 4.2 does so.
    pub empty: bool,
    /// Where the source declares it.
    pub place: Place,
}

/// A structural schema, as kube-rs would print it.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema(pub Value);

/// One `+kubebuilder:rbac:` comment. Lists are as written: nothing is sorted, merged or defaulted yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    pub resource_names: Vec<String>,
    pub urls: Vec<String>,
    pub verbs: Vec<String>,
    pub namespace: Option<String>,
    pub role_name: Option<String>,
}
