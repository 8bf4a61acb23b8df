use super::{DeclaredKind, Problem};

/// The operator that the source code declares, independent of Rust syntax and YAML.
#[derive(Clone, Debug, Default)]
pub struct Operator {
    /// Every version of every kind, in the order of their files.
    pub kinds: Vec<DeclaredKind>,
    /// Every `+kubebuilder:rbac:` comment, in the order of their files and lines.
    pub rules: Vec<Rule>,
    /// Parts of the source that were read but do not have the effect that a reader would expect.
    pub warnings: Vec<Problem>,
}

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
