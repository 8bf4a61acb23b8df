//! The metadata of an object of the cluster.

use super::{names, of};
use go_data::yaml::Value;

/// The maximum size of all annotations together, in bytes.
const MOST_ANNOTATIONS: usize = 256 << 10;

/// What Kubernetes would say of an object's metadata. It does not see a field of another type than its own.
pub fn metadata(object: &Value) -> Vec<String> {
    let mut res = Vec::new();
    let mut invalid = |field: &str, value: &str, faults: Vec<String>| {
        res.extend(
            faults.iter().map(|it| format!("metadata.{field}: Invalid value: {value:?}: {it}")),
        );
    };
    for (key, value) in texts(object, "/metadata/labels") {
        invalid("labels", key, names::qualified(key));
        invalid("labels", value, names::label_value(value));
    }
    let mut size = 0;
    for (key, value) in texts(object, "/metadata/annotations") {
        size += key.len() + value.len();
        invalid("annotations", key, names::qualified(&key.to_lowercase()));
    }
    let finalizers = of::list(object, "/metadata/finalizers");
    let finalizers =
        finalizers.iter().map(Value::as_str).collect::<Option<Vec<_>>>().unwrap_or_default();
    finalizers.iter().for_each(|it| invalid("finalizers", it, names::qualified(it)));
    if ["orphan", "foregroundDeletion"].iter().all(|it| finalizers.contains(it)) {
        res.push(
            "metadata.finalizers: finalizer orphan and foregroundDeletion cannot be both set"
                .to_owned(),
        );
    }
    if of::text(object, "/metadata/name").is_empty() {
        res.push("metadata.name: Required value: name or generateName is required".to_owned());
    }
    if !of::text(object, "/metadata/namespace").is_empty() {
        res.push("metadata.namespace: Forbidden: not allowed on this type".to_owned());
    }
    if object.pointer("/metadata/generation").and_then(Value::as_i64).is_some_and(|it| it < 0) {
        res.push("metadata.generation: must be greater than or equal to 0".to_owned());
    }
    if MOST_ANNOTATIONS < size {
        res.push(format!(
            "metadata.annotations: Too long: may not be more than {MOST_ANNOTATIONS} bytes"
        ));
    }
    res.extend(owners(object));
    let entries = of::list(object, "/metadata/managedFields");
    let is_good = |it: &Value| {
        matches!(of::text(it, "/operation"), "Apply" | "Update")
            && matches!(of::text(it, "/fieldsType"), "" | "FieldsV1")
    };
    if entries.iter().all(Value::is_object) && !entries.iter().all(is_good) {
        res.push(
            "metadata.managedFields: operation must be `Apply` or `Update`, fieldsType `FieldsV1`"
                .to_owned(),
        );
    }
    res
}

/// A map of texts, where it is one; null is an empty text.
fn texts<'a>(object: &'a Value, pointer: &str) -> Vec<(&'a str, &'a str)> {
    let map = object.pointer(pointer).and_then(Value::as_object);
    let text = |it: &'a Value| if it.is_null() { Some("") } else { it.as_str() };
    let all = map.into_iter().flatten().map(|(key, it)| Some((key.as_str(), text(it)?)));
    all.collect::<Option<_>>().unwrap_or_default()
}

fn owners(object: &Value) -> Vec<String> {
    let owners = of::list(object, "/metadata/ownerReferences");
    if !owners.iter().all(Value::is_object) {
        return Vec::new();
    }
    let mut res = Vec::new();
    for owner in owners {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if of::text(owner, &format!("/{field}")).is_empty() {
                res.push(format!("metadata.ownerReferences: {field} must not be empty"));
            }
        }
        if (of::text(owner, "/apiVersion"), of::text(owner, "/kind")) == ("v1", "Event") {
            res.push(
                "metadata.ownerReferences: an Event is disallowed from being an owner".to_owned(),
            );
        }
    }
    if owners.iter().filter(|it| it["controller"] == true).count() > 1 {
        res.push(
            "metadata.ownerReferences: only one reference can have controller set to true"
                .to_owned(),
        );
    }
    res
}
