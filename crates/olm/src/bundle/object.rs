//! Accessors for the common parts of Kubernetes objects.

use go_data::yaml::Value;

pub use go_data::yaml::pointer::{list, text, texts};

/// Returns the name of a part of an object, such as a container or a port.
pub fn name_of(value: &Value) -> &str {
    text(value, "/name")
}

pub fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

pub fn namespace(object: &Value) -> &str {
    text(object, "/metadata/namespace")
}

/// Returns whether two namespaces may be the same: they are equal, or one is not set.
pub fn may_be_same(one: &str, other: &str) -> bool {
    one == other || one.is_empty() || other.is_empty()
}

/// Returns the labels or annotations of an object, as messages name them, except those that another object has, too:
/// these are set on all objects.
pub fn distinct_metadata(
    object: &Value,
    what: &str,
    other: &Value,
) -> impl Iterator<Item = String> {
    let map = |object: &Value| {
        object.pointer(&format!("/metadata/{what}s")).and_then(Value::as_object).cloned()
    };
    let others = map(other).unwrap_or_default();
    let is_own = move |(key, value): &(String, Value)| {
        !key.starts_with("app.kubernetes.io/") && others.get(key) != Some(value)
    };
    map(object)
        .into_iter()
        .flatten()
        .filter(is_own)
        .map(move |entry| format!("{what} `{}`", entry.0))
}

pub fn kind(object: &Value) -> &str {
    text(object, "/kind")
}

/// Returns whether Go can read the kind of an object: it needs a valid group and version.
pub fn has_kind(object: &Value) -> bool {
    !kind(object).is_empty() && text(object, "/apiVersion").matches('/').count() < 2
}

/// Returns group and version; the core group is empty.
pub fn group_version(object: &Value) -> (&str, &str) {
    let text = text(object, "/apiVersion");
    text.split_once('/').unwrap_or(("", text))
}

/// Formats an object for messages: ``Service/webhook (v1)``.
pub fn title(object: &Value) -> String {
    format!("`{}/{}` ({})", kind(object), name(object), text(object, "/apiVersion"))
}

/// `<name>_[<group>_]<version>_<kind>.yaml`.
pub fn file_name(object: &Value) -> String {
    let (group, version) = group_version(object);
    let group = if group.is_empty() { String::new() } else { format!("{group}_") };
    format!("{}_{group}{version}_{}.yaml", name(object), kind(object).to_lowercase())
}

/// `<group>_<plural>.yaml`.
pub fn crd_file_name(crd: &Value) -> String {
    match (text(crd, "/spec/group"), text(crd, "/spec/names/plural")) {
        ("", _) | (_, "") => file_name(crd),
        (group, plural) => format!("{group}_{plural}.yaml"),
    }
}

/// Removes the namespace: OLM chooses it, and rejects manifests that set one.
pub fn without_namespace(object: &Value) -> Value {
    let mut copy = object.clone();
    if let Some(metadata) = copy.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.remove("namespace");
    }
    copy
}

/// Removes creation timestamps.
pub fn without_times(value: &mut Value) {
    if let Some(map) = value.as_object_mut() {
        map.remove("creationTimestamp");
        map.values_mut().for_each(without_times);
    }
    value.as_array_mut().into_iter().flatten().for_each(without_times);
}

/// Returns the name of the service account that a Deployment runs as.
pub fn service_account(deployment: &Value) -> &str {
    match text(deployment, "/spec/template/spec/serviceAccountName") {
        "" => "default",
        name => name,
    }
}
