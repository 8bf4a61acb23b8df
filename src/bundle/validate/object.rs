//! Every manifest but CSV and CRDs: its kind and its metadata.

use super::{super::kinds, Findings, Manifest, names, of};
use crate::yaml::{Map, Value};

/// What Kubernetes takes of all annotations together, in bytes.
const MOST_ANNOTATIONS: usize = 256 << 10;

pub fn check(manifests: &[Manifest], findings: &mut Findings) {
    for Manifest { path, object } in manifests {
        let kind = of::kind(object);
        if matches!(kind, "ClusterServiceVersion" | "CustomResourceDefinition") {
            continue;
        }
        if !kinds::is_supported_kind(kind) {
            findings.error(path, "unsupported media type registry+v1 for bundle object");
            continue;
        }
        for fault in metadata(object) {
            findings.error(path, format!("error validating object: {fault}"));
        }
        if !of::text(object, "/metadata/namespace").is_empty() {
            findings.error(
                path,
                "error validating object: metadata.namespace: Forbidden: not allowed on this type",
            );
        }
    }
}

/// What Kubernetes would say of an object's name, labels, annotations and finalizers.
pub fn metadata(object: &Value) -> Vec<String> {
    let mut res = Vec::new();
    if of::name(object).is_empty() {
        res.push("metadata.name: Required value: name or generateName is required".to_owned());
    }
    let map =
        |it: &str| object.pointer(it).and_then(Value::as_object).into_iter().flat_map(Map::iter);
    for (key, value) in map("/metadata/labels") {
        for fault in names::qualified(key) {
            res.push(format!("metadata.labels: Invalid value: {key:?}: {fault}"));
        }
        let value = value.as_str().unwrap_or_default();
        for fault in names::label_value(value) {
            res.push(format!("metadata.labels: Invalid value: {value:?}: {fault}"));
        }
    }
    let mut size = 0;
    for (key, value) in map("/metadata/annotations") {
        size += key.len() + value.as_str().unwrap_or_default().len();
        for fault in names::qualified(&key.to_lowercase()) {
            res.push(format!("metadata.annotations: Invalid value: {key:?}: {fault}"));
        }
    }
    if MOST_ANNOTATIONS < size {
        res.push(format!(
            "metadata.annotations: Too long: may not be more than {MOST_ANNOTATIONS} bytes"
        ));
    }
    for finalizer in of::list(object, "/metadata/finalizers").iter().filter_map(Value::as_str) {
        for fault in names::qualified(finalizer) {
            res.push(format!("metadata.finalizers: Invalid value: {finalizer:?}: {fault}"));
        }
    }
    res
}
