use serde::{Deserialize, Serialize};

use super::{Domain, GroupName, Kind, Plural, Version};

/// One entry of PROJECT's `resources`, as kubebuilder's version 3 has them. Fields that are not named
/// here are not ours; they stay in the file as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub controller: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<Domain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupName>,
    pub kind: Kind,
    /// The Rust path of the module that has the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plural: Option<Plural>,
    pub version: Version,
}

/// That a resource's type is part of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Api {
    pub crd_version: CrdVersion,
    #[serde(default)]
    pub namespaced: bool,
}

/// The version of `apiextensions.k8s.io`: there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CrdVersion {
    #[serde(rename = "v1")]
    V1,
}

impl Resource {
    /// Whether both are versions of one kind.
    pub fn is_kin(&self, other: &Self) -> bool {
        self.group == other.group && self.domain == other.domain && self.kind == other.kind
    }

    pub fn plural(&self) -> Plural {
        self.plural.clone().unwrap_or_else(|| self.kind.plural())
    }

    /// The API group: `cache.example.com`.
    pub fn api_group(&self) -> String {
        match (&self.group, &self.domain) {
            (Some(group), Some(domain)) => group.qualified(domain),
            (Some(group), None) => group.to_string(),
            (None, Some(domain)) => domain.to_string(),
            (None, None) => String::new(),
        }
    }
}
