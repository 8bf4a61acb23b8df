//! Kubernetes objects, as Go programs hold them.
//!
//! [`decode`] takes an object as data, and gives what sigs.k8s.io/yaml and encoding/json make of it when
//! they read it into its Go type and write it again: field names in any case, numbers where texts belong,
//! quantities in canonical form, and zero values where nothing was given. Unknown fields are dropped and
//! named; what Go refuses is a fault. `types.txt` lists the Go types of operator-sdk 1.42.3; it is printed
//! by `tests/control-plane/modules/operator-sdk/types`. Beside it are other
//! grammars of Go: its JSON, its mail addresses and URLs, and the versions of blang/semver. This room reads no file and knows no bundle.

mod decode;
pub mod go;
pub mod immutable;
pub mod mail;
pub mod names;
pub mod quantity;
mod scalar;
#[cfg(test)]
mod tests;
mod types;
mod unknown;
pub mod url;
pub mod version;

pub use unknown::{Unknown, fields as unknown_fields};

use crate::yaml::Value;

/// What Go makes of an object.
#[derive(Debug, PartialEq)]
pub struct Decoded {
    pub value: Value,
    /// The path of every field that its type does not have.
    pub unknown: Vec<String>,
    /// Every value that cannot be read, with its path.
    pub faults: Vec<String>,
}

/// The Go type of each kind, by group and kind: Go programs seldom look at the version.
const KINDS: &[(&str, &str, &str)] = &[
    ("", "Service", "core.Service"),
    ("", "ServiceAccount", "core.ServiceAccount"),
    (
        ADMISSION,
        "MutatingWebhookConfiguration",
        "admissionregistration.MutatingWebhookConfiguration",
    ),
    (
        ADMISSION,
        "ValidatingWebhookConfiguration",
        "admissionregistration.ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "apiextensions.CustomResourceDefinition"),
    ("apps", "Deployment", "apps.Deployment"),
    ("operators.coreos.com", "ClusterServiceVersion", "operators.ClusterServiceVersion"),
    (RBAC, "ClusterRole", "rbac.ClusterRole"),
    (RBAC, "ClusterRoleBinding", "rbac.ClusterRoleBinding"),
    (RBAC, "Role", "rbac.Role"),
    (RBAC, "RoleBinding", "rbac.RoleBinding"),
    ("scorecard.operatorframework.io", "Configuration", "scorecard.Configuration"),
];
const ADMISSION: &str = "admissionregistration.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

/// The same of an object's `metadata` alone, as an API server reads it.
pub fn decode_metadata(metadata: &Value) -> Decoded {
    decode::decode("meta.ObjectMeta", metadata, false)
}

/// A text as sigs.k8s.io/yaml reads it into a Go string: it makes one of a number or a boolean.
pub fn text(value: &Value) -> Option<String> {
    let decoded = decode::decode("string", value, true);
    decoded.value.as_str().filter(|_| decoded.faults.is_empty()).map(str::to_owned)
}

/// What encoding/json makes of a value of the Go type with this name in `types.txt`.
pub fn decode_as(type_: &'static str, value: &Value) -> Decoded {
    decode::decode(type_, value, false)
}

/// What Go makes of an object. One of a kind without a Go type here stays as it is, but for whole
/// numbers, which lose their fraction.
pub fn decode(object: &Value) -> Decoded {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |it| it.0);
    let kind = KINDS.iter().find(|it| it.0 == group && it.1 == text("kind"));
    match kind {
        Some((_, _, type_)) => decode::decode(type_, object, true),
        None => Decoded { value: scalar::raw(object), unknown: Vec::new(), faults: Vec::new() },
    }
}
