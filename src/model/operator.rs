use super::{DeclaredKind, Problem};

/// What the source says the operator is. Knows nothing of Rust syntax, nor of YAML.
#[derive(Clone, Debug, Default)]
pub struct Operator {
    /// Every version of every kind, in the order of their files.
    pub kinds: Vec<DeclaredKind>,
    /// Every `+kubebuilder:rbac:` comment, in the order of their files and lines.
    pub rules: Vec<Rule>,
    /// What was read, and will not do what it looks like.
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
