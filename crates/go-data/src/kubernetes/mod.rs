//! Kubernetes objects, as Go programs hold them.
//!
//! There is one reader of typed objects. [`decode`] takes an object as data, and gives what operator-sdk makes of it
//! when it reads it into its Go type and writes it again: field names in any case, numbers where texts belong,
//! quantities in canonical form, and zero values where nothing was given. [`read`] reads as API servers and OLM do. Unknown
//! fields are dropped and named; what Go refuses is a fault. `types.txt` lists the Go types of operator-sdk 1.42.3 and its
//! Kubernetes 1.33, and `newer.txt` what Kubernetes 1.36 and OLM 0.46 have beyond them; both are printed by
//! `tests/control-plane/modules/operator-sdk/types`. Beside them are other
//! grammars of Go: its JSON, its mail addresses and URLs, and the versions of blang/semver. This room reads no file and knows no bundle.

mod decode;
pub mod go;
mod held;
pub mod immutable;
pub mod json;
pub mod mail;
pub mod names;
pub mod quantity;
pub mod rbac;
mod scalar;
#[cfg(test)]
mod tests;
mod types;
pub mod url;
pub mod version;

use std::fmt;

pub use decode::Reader;
pub use held::held_crd;
use types::Field;

use crate::yaml::{Map, Value, pointer::escaped};

/// An object as Go decodes it.
#[derive(Debug, PartialEq)]
pub struct Decoded {
    pub value: Value,
    /// Every field that its type does not have.
    pub unknown: Vec<Unknown>,
    /// Every value that cannot be read.
    pub faults: Vec<Fault>,
}

/// A field that a type does not have.
#[derive(Debug, PartialEq)]
pub struct Unknown {
    pub path: String,
    /// The steps to what has it.
    pub inside: Vec<String>,
    pub name: String,
    fields: &'static [Field],
}

impl Unknown {
    /// Its JSON pointer.
    pub fn pointer(&self) -> String {
        pointer(&self.inside) + &pointer(&[&self.name])
    }

    /// The end of a message: `; did you mean …?`, where a field of that type is spelled like it.
    pub fn suggestion(&self) -> String {
        self.nearest().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default()
    }

    /// The field of that type that is spelled like it.
    pub fn nearest(&self) -> Option<&'static str> {
        diagnostics::nearest(&self.name, self.fields.iter().map(|it| it.name))
    }
}

/// A value that cannot be read.
#[derive(Debug, PartialEq)]
pub struct Fault {
    /// Its JSON pointer.
    pub pointer: String,
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Steps as a JSON pointer.
pub fn pointer(steps: &[impl AsRef<str>]) -> String {
    steps.iter().map(|it| format!("/{}", escaped(it.as_ref()))).collect()
}

/// The Go type of each kind, by its apiVersion.
struct Kind {
    api_version: &'static str,
    kind: &'static str,
    type_: &'static str,
    /// Whether operator-sdk decodes it, which looks at the group alone.
    is_of_sdk: bool,
}

macro_rules! kinds {
    ($($api_version:literal $is_of_sdk:literal $($kind:literal $type_:literal),*;)*) => {
        &[$($(Kind { api_version: $api_version, kind: $kind, type_: $type_, is_of_sdk: $is_of_sdk }),*),*]
    };
}

#[rustfmt::skip]
const KINDS: &[Kind] = kinds! {
    "v1" true "Service" "core.Service", "ServiceAccount" "core.ServiceAccount";
    "v1" false "ConfigMap" "core.ConfigMap", "LimitRange" "core.LimitRange", "Namespace" "core.Namespace",
        "PersistentVolumeClaim" "core.PersistentVolumeClaim", "Pod" "core.Pod", "ResourceQuota" "core.ResourceQuota",
        "Secret" "core.Secret";
    "admissionregistration.k8s.io/v1" true
        "MutatingWebhookConfiguration" "admissionregistration.MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration" "admissionregistration.ValidatingWebhookConfiguration";
    "apiextensions.k8s.io/v1" true "CustomResourceDefinition" "apiextensions.CustomResourceDefinition";
    "apps/v1" true "Deployment" "apps.Deployment";
    "apps/v1" false "DaemonSet" "apps.DaemonSet", "StatefulSet" "apps.StatefulSet";
    "autoscaling/v2" false "HorizontalPodAutoscaler" "autoscaling.HorizontalPodAutoscaler";
    "batch/v1" false "CronJob" "batch.CronJob", "Job" "batch.Job";
    "networking.k8s.io/v1" false "Ingress" "networking.Ingress", "NetworkPolicy" "networking.NetworkPolicy";
    "operators.coreos.com/v1alpha1" true "ClusterServiceVersion" "operators.ClusterServiceVersion";
    "policy/v1" false "PodDisruptionBudget" "policy.PodDisruptionBudget";
    "rbac.authorization.k8s.io/v1" true
        "ClusterRole" "rbac.ClusterRole", "ClusterRoleBinding" "rbac.ClusterRoleBinding", "Role" "rbac.Role",
        "RoleBinding" "rbac.RoleBinding";
    "scheduling.k8s.io/v1" false "PriorityClass" "scheduling.PriorityClass";
    "scorecard.operatorframework.io/v1alpha3" true "Configuration" "scorecard.Configuration";
};

/// Decodes an object's `metadata` alone, as an API server reads it.
pub fn decode_metadata(metadata: &Value) -> Decoded {
    decode::decode("meta.ObjectMeta", metadata, Reader::Json)
}

/// A text as sigs.k8s.io/yaml reads it into a Go string: it makes one of a number or a boolean.
pub fn text(value: &Value) -> Option<String> {
    let decoded = decode::decode("string", value, Reader::Yaml);
    decoded.value.as_str().filter(|_| decoded.faults.is_empty()).map(str::to_owned)
}

/// What encoding/json makes of a value of the Go type with this name in `types.txt`.
pub fn decode_as(type_: &'static str, value: &Value) -> Decoded {
    read_as(type_, value, Reader::Json)
}

/// What `reader` makes of a value of the Go type with this name in `types.txt`.
pub fn read_as(type_: &'static str, value: &Value, reader: Reader) -> Decoded {
    decode::decode(type_, value, reader)
}

/// What operator-sdk makes of an object. One of a kind that it does not decode stays as it is, but for whole
/// numbers, which lose their fraction.
pub fn decode(object: &Value) -> Decoded {
    let group = |it: &str| it.split_once('/').map_or(String::new(), |it| it.0.to_owned());
    let of_object = group(text_of(object, "apiVersion"));
    let is = |it: &&Kind| {
        it.is_of_sdk && group(it.api_version) == of_object && it.kind == text_of(object, "kind")
    };
    match KINDS.iter().find(is) {
        Some(kind) => decode::decode(kind.type_, object, Reader::Yaml),
        None => Decoded { value: scalar::raw(object), unknown: Vec::new(), faults: Vec::new() },
    }
}

/// What an API server or OLM makes of an object. Of a kind without a Go type here, such as a custom resource, it is the
/// metadata alone.
pub fn read(object: &Value, reader: Reader) -> Decoded {
    let is = |it: &&Kind| {
        it.api_version == text_of(object, "apiVersion") && it.kind == text_of(object, "kind")
    };
    if let Some(kind) = KINDS.iter().find(is) {
        return decode::decode(kind.type_, object, reader);
    }
    let is_common = |it: &&str| object.get(it).is_some();
    let common = ["apiVersion", "kind", "metadata"].into_iter().filter(is_common);
    let common: Map<String, Value> = common.map(|it| (it.to_owned(), object[it].clone())).collect();
    decode::decode("meta.PartialObjectMetadata", &common.into(), reader)
}

fn text_of<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
