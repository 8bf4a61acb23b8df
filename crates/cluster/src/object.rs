//! Common fields of objects.

use std::fmt;

use go_data::yaml::Value;

/// The identity of an object on a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    pub api_version: String,
    pub kind: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    pub name: String,
}

impl Id {
    /// The group of CRDs.
    pub const CRDS: &str = "apiextensions.k8s.io";

    pub fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            api_version: text(&object["apiVersion"]),
            kind: text(&object["kind"]),
            namespace: text(&object["metadata"]["namespace"]),
            name: text(&object["metadata"]["name"]),
        }
    }

    pub fn group(&self) -> &str {
        Self::group_of(&self.api_version)
    }

    /// The group of `apps/v1`; empty for `v1`.
    pub fn group_of(api_version: &str) -> &str {
        api_version.split_once('/').map_or("", |parts| parts.0)
    }

    /// Returns whether a manifest with this identity, in any version, names an object; `default` is the namespace of
    /// manifests that have none.
    pub fn matches_object(&self, object: &Self, default: &str) -> bool {
        self.group() == object.group()
            && self.kind == object.kind
            && self.name == object.name
            && (self.namespace == object.namespace
                || (self.namespace.is_empty() && object.namespace == default))
    }

    pub fn is_crd(&self) -> bool {
        self.group() == Self::CRDS && self.kind == "CustomResourceDefinition"
    }

    /// Returns whether it runs pods continuously.
    pub fn is_workload(&self) -> bool {
        self.group() == "apps"
            && ["Deployment", "StatefulSet", "DaemonSet"].contains(&self.kind.as_str())
    }

    pub fn is_namespace(&self) -> bool {
        self.api_version == "v1" && self.kind == "Namespace"
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, name, .. } = self;
        let slash = if namespace.is_empty() { "" } else { "/" };
        write!(f, "{kind} {namespace}{slash}{name}")
    }
}

/// A condition of an object's status: its status and its message.
pub fn find_condition<'a>(object: &'a Value, kind: &str) -> Option<(&'a str, &'a str)> {
    let conditions = object["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|condition| condition["type"] == *kind)?;
    Some((found["status"].as_str()?, found["message"].as_str().unwrap_or_default()))
}

pub fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// Returns `metadata.resourceVersion`.
pub fn resource_version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_default()
}

pub fn is_being_deleted(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// Returns the items of a list that are strings.
pub fn string_items(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn an_object_is_shown_by_its_kind_and_name() {
    use go_data::yaml::json;
    let of = |it: Value| Id::of(&it).to_string();
    let pod =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "b"}});
    assert_eq!(of(pod), "Pod b/a");
    assert_eq!(of(json!({"kind": "Namespace", "metadata": {"name": "a"}})), "Namespace a");
}
