//! Decodes Kubernetes objects as Go programs do.
//!
//! [`decode`] returns an object as operator-sdk has it after it has decoded it into its Go type and encoded it again:
//! field names in any case, numbers where strings belong, quantities in canonical form, and zero values for missing
//! fields. [`decode_with`] decodes as API servers and OLM do. Unknown fields are dropped and reported; a value that Go
//! refuses is an error. `types.txt` lists the Go types of operator-sdk 1.42.3 and its Kubernetes 1.33, and `newer.txt`
//! the fields that Kubernetes 1.36 and OLM 0.46 have beyond them; `tests/control-plane/modules/operator-sdk/types`
//! prints both. Other modules parse further grammars of Go: its JSON, its mail addresses and URLs, and the versions of
//! blang/semver. This module reads no file and knows no bundle.

mod decode;
pub mod go;
pub mod immutable;
pub mod json;
pub mod mail;
pub mod names;
pub mod quantity;
pub mod rbac;
mod scalar;
mod stored_crd;
#[cfg(test)]
mod tests;
mod types;
pub mod url;
pub mod version;

use std::fmt;

pub use decode::Reader;
pub use stored_crd::stored_crd;
use types::Field;

use crate::yaml::{Map, Value, pointer::escape_key};

/// An object as Go decodes it.
#[derive(Debug, PartialEq)]
pub struct Decoded {
    pub value: Value,
    /// Every field that its type does not have.
    pub unknown: Vec<UnknownField>,
    /// Every value that cannot be decoded.
    pub faults: Vec<DecodeError>,
}

/// A field that a type does not have.
#[derive(Debug, PartialEq)]
pub struct UnknownField {
    pub path: String,
    /// The steps to the value that has it.
    pub inside: Vec<String>,
    pub name: String,
    fields: &'static [Field],
}

impl UnknownField {
    /// Returns its JSON pointer.
    pub fn pointer(&self) -> String {
        format_pointer(&self.inside) + &format_pointer(&[&self.name])
    }

    /// Returns the end of a message: `; did you mean …?`, if a field of that type is spelled like it.
    pub fn suggestion(&self) -> String {
        self.nearest().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
    }

    /// Returns the field of that type that is spelled like it.
    pub fn nearest(&self) -> Option<&'static str> {
        diagnostics::find_nearest(&self.name, self.fields.iter().map(|field| field.name))
    }
}

/// A value that cannot be decoded.
#[derive(Debug, PartialEq)]
pub struct DecodeError {
    /// Its JSON pointer.
    pub pointer: String,
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Formats steps as a JSON pointer.
pub fn format_pointer(steps: &[impl AsRef<str>]) -> String {
    steps.iter().map(|step| format!("/{}", escape_key(step.as_ref()))).collect()
}

/// The Go type of each kind, by its apiVersion.
struct Kind {
    api_version: &'static str,
    kind: &'static str,
    type_: &'static str,
    /// operator-sdk decodes it. It compares the group alone, not the version.
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

/// Decodes an object's `metadata` alone, as an API server does.
pub fn decode_metadata(metadata: &Value) -> Decoded {
    decode::decode_object("meta.ObjectMeta", metadata, Reader::Json)
}

/// Decodes a Go string as sigs.k8s.io/yaml does, which also makes one of a number or a boolean.
pub fn decode_text(value: &Value) -> Option<String> {
    let decoded = decode::decode_object("string", value, Reader::Yaml);
    decoded.value.as_str().filter(|_| decoded.faults.is_empty()).map(str::to_owned)
}

/// Decodes a value of the Go type with this name in `types.txt`, as encoding/json does.
pub fn decode_as(type_: &'static str, value: &Value) -> Decoded {
    decode_type(type_, value, Reader::Json)
}

/// Decodes a value of the Go type with this name in `types.txt`, as `reader` does.
pub fn decode_type(type_: &'static str, value: &Value, reader: Reader) -> Decoded {
    decode::decode_object(type_, value, reader)
}

/// Decodes an object as operator-sdk does. An object of a kind that it does not decode stays as it is, but for whole
/// numbers, which lose their fraction.
pub fn decode(object: &Value) -> Decoded {
    let group = |api_version: &str| {
        api_version.split_once('/').map_or(String::new(), |parts| parts.0.to_owned())
    };
    let object_group = group(text_of(object, "apiVersion"));
    let is_decoded = |kind: &&Kind| {
        kind.is_of_sdk
            && group(kind.api_version) == object_group
            && kind.kind == text_of(object, "kind")
    };
    match KINDS.iter().find(is_decoded) {
        Some(kind) => decode::decode_object(kind.type_, object, Reader::Yaml),
        None => Decoded {
            value: scalar::normalize_numbers(object),
            unknown: Vec::new(),
            faults: Vec::new(),
        },
    }
}

/// Decodes an object as an API server or OLM does. For a kind without a Go type in `types.txt`, such as a custom
/// resource, it decodes the metadata alone.
pub fn decode_with(object: &Value, reader: Reader) -> Decoded {
    let is_named = |kind: &&Kind| {
        kind.api_version == text_of(object, "apiVersion") && kind.kind == text_of(object, "kind")
    };
    if let Some(kind) = KINDS.iter().find(is_named) {
        return decode::decode_object(kind.type_, object, reader);
    }
    let is_common = |key: &&str| object.get(key).is_some();
    let common = ["apiVersion", "kind", "metadata"].into_iter().filter(is_common);
    let common: Map<String, Value> =
        common.map(|key| (key.to_owned(), object[key].clone())).collect();
    decode::decode_object("meta.PartialObjectMetadata", &common.into(), reader)
}

fn text_of<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
