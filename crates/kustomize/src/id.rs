//! The identity of an object.

use super::kinds;

/// The value that stands for "no namespace" in comparisons.
const NOWHERE: &str = "_non_namespaceable_";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub name: String,
    /// The text as written in the file.
    pub written_namespace: String,
    /// The effective namespace: `default` if none is given, and a special word for cluster-scoped objects.
    pub namespace: String,
}

impl Id {
    pub fn new(api_version: &str, kind: &str, name: &str, namespace: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let effective = match namespace {
            _ if kinds::is_cluster_scoped(api_version, kind) => NOWHERE,
            "" => "default",
            namespace => namespace,
        };
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            written_namespace: namespace.to_owned(),
            namespace: effective.to_owned(),
        }
    }

    pub fn is_cluster_scoped(&self) -> bool {
        self.namespace == NOWHERE
    }

    /// Returns true if both identify one object: a missing namespace is `default`.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.name == other.name
            && self.kind == other.kind
            && self.namespace == other.namespace
            && self.group == other.group
            && self.version == other.version
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { group, version, kind, name, namespace, .. } = self;
        let slash = if group.is_empty() { "" } else { "/" };
        write!(f, "{group}{slash}{version} {kind} `{name}`")?;
        if self.is_cluster_scoped() { Ok(()) } else { write!(f, " in namespace `{namespace}`") }
    }
}
