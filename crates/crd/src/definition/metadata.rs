//! Checks the metadata of a cluster-scoped object.

use super::{names, pointer};
use go_data::yaml::Value;

/// The maximum size of all annotations together, in bytes.
const MOST_ANNOTATIONS: usize = 256 << 10;

/// Returns the messages of Kubernetes about an object's metadata. A field of the wrong type is not checked.
pub fn check_metadata(object: &Value) -> Vec<String> {
    let mut messages = Vec::new();
    let mut invalid = |field: &str, value: &str, faults: Vec<String>| {
        messages.extend(
            faults
                .iter()
                .map(|fault| format!("metadata.{field}: Invalid value: {value:?}: {fault}")),
        );
    };
    for (key, value) in text_entries(object, "/metadata/labels") {
        invalid("labels", key, names::validate_qualified_name(key));
        invalid("labels", value, names::validate_label_value(value));
    }
    let mut size = 0;
    for (key, value) in text_entries(object, "/metadata/annotations") {
        size += key.len() + value.len();
        invalid("annotations", key, names::validate_qualified_name(&key.to_lowercase()));
    }
    let finalizers = pointer::list(object, "/metadata/finalizers");
    let finalizers =
        finalizers.iter().map(Value::as_str).collect::<Option<Vec<_>>>().unwrap_or_default();
    finalizers.iter().for_each(|finalizer| {
        invalid("finalizers", finalizer, names::validate_qualified_name(finalizer))
    });
    if ["orphan", "foregroundDeletion"].iter().all(|finalizer| finalizers.contains(finalizer)) {
        messages.push(
            "metadata.finalizers: finalizer orphan and foregroundDeletion cannot be both set"
                .to_owned(),
        );
    }
    if pointer::text(object, "/metadata/name").is_empty() {
        messages.push("metadata.name: Required value: name or generateName is required".to_owned());
    }
    if !pointer::text(object, "/metadata/namespace").is_empty() {
        messages.push("metadata.namespace: Forbidden: not allowed on this type".to_owned());
    }
    if object
        .pointer("/metadata/generation")
        .and_then(Value::as_i64)
        .is_some_and(|generation| generation < 0)
    {
        messages.push("metadata.generation: must be greater than or equal to 0".to_owned());
    }
    if size > MOST_ANNOTATIONS {
        messages.push(format!(
            "metadata.annotations: Too long: may not be more than {MOST_ANNOTATIONS} bytes"
        ));
    }
    messages.extend(check_owner_references(object));
    let entries = pointer::list(object, "/metadata/managedFields");
    let is_good = |entry: &Value| {
        matches!(pointer::text(entry, "/operation"), "Apply" | "Update")
            && matches!(pointer::text(entry, "/fieldsType"), "" | "FieldsV1")
    };
    if entries.iter().all(Value::is_object) && !entries.iter().all(is_good) {
        messages.push(
            "metadata.managedFields: operation must be `Apply` or `Update`, fieldsType `FieldsV1`"
                .to_owned(),
        );
    }
    messages
}

/// Returns the entries of a map of strings; none if it is not such a map. `null` is an empty string.
fn text_entries<'a>(object: &'a Value, pointer: &str) -> Vec<(&'a str, &'a str)> {
    let map = object.pointer(pointer).and_then(Value::as_object);
    let text = |value: &'a Value| if value.is_null() { Some("") } else { value.as_str() };
    let all = map.into_iter().flatten().map(|(key, it)| Some((key.as_str(), text(it)?)));
    all.collect::<Option<_>>().unwrap_or_default()
}

fn check_owner_references(object: &Value) -> Vec<String> {
    let owners = pointer::list(object, "/metadata/ownerReferences");
    if !owners.iter().all(Value::is_object) {
        return Vec::new();
    }
    let mut messages = Vec::new();
    for owner in owners {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if pointer::text(owner, &format!("/{field}")).is_empty() {
                messages.push(format!("metadata.ownerReferences: {field} must not be empty"));
            }
        }
        if (pointer::text(owner, "/apiVersion"), pointer::text(owner, "/kind")) == ("v1", "Event") {
            messages.push(
                "metadata.ownerReferences: an Event is disallowed from being an owner".to_owned(),
            );
        }
    }
    if owners.iter().filter(|owner| owner["controller"] == true).count() > 1 {
        messages.push(
            "metadata.ownerReferences: only one reference can have controller set to true"
                .to_owned(),
        );
    }
    messages
}
