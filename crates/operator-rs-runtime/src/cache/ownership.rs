//! Proves from `metadata.managedFields` that no other client has changed the fields that this operator applied.
//!
//! For each field manager, the API server keeps the set of fields that it owns. It removes a field from the set when
//! another manager changes or removes the field. An object is therefore as desired if the hash of the object that was
//! applied last, which is in an annotation, equals the hash of the desired object, and if the operator's set still has
//! every field of the desired object. kube has no such function.

use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use std::borrow::Cow;

/// The fields of `metadata` that are in no set, because the server takes them from the URL of the request or sets them
/// itself.
const UNOWNED_METADATA: [&str; 7] =
    ["name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"];

/// The fields of built-in kinds that are maps. The server drops an empty map, whereas it keeps an empty object such as
/// `emptyDir`. A map that is missing here costs one write after a restart.
const BUILT_IN_MAPS: [&str; 11] = [
    "labels",
    "annotations",
    "matchLabels",
    "data",
    "binaryData",
    "stringData",
    "limits",
    "requests",
    "nodeSelector",
    "parameters",
    "overhead",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManagedFieldsEntry<'a> {
    #[serde(borrow)]
    manager: Option<Cow<'a, str>>,
    #[serde(borrow)]
    operation: Option<Cow<'a, str>>,
    #[serde(borrow)]
    subresource: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "fieldsV1")]
    fields: Option<&'a RawValue>,
}

impl ManagedFieldsEntry<'_> {
    fn is_applied_by(&self, field_manager: &str, subresource: &str) -> bool {
        self.manager.as_deref() == Some(field_manager)
            && self.operation.as_deref() == Some("Apply")
            && self.subresource.as_deref().unwrap_or_default() == subresource
    }
}

fn parse_entries(managed: &str) -> Vec<ManagedFieldsEntry<'_>> {
    // If `managedFields` cannot be parsed, nothing is proven.
    serde_json::from_str(managed).unwrap_or_default()
}

/// Returns the JSON of the set of fields that `field_manager` has applied to an object, or to a subresource of it.
pub fn applied_fields<'a>(managed: &'a str, field_manager: &str, subresource: &str) -> Option<&'a str> {
    let mut entries = parse_entries(managed).into_iter();
    entries.find(|entry| entry.is_applied_by(field_manager, subresource))?.fields.map(RawValue::get)
}

/// Returns the types of the conditions that `field_manager` has applied to the status.
pub fn applied_conditions(managed: &str, field_manager: &str) -> Vec<String> {
    let json = applied_fields(managed, field_manager, "status");
    let fields = json.and_then(|json| serde_json::from_str::<Value>(json).ok());
    let keys = fields.as_ref().and_then(|fields| fields["f:status"]["f:conditions"].as_object());
    let types = keys.into_iter().flatten().filter_map(|(key, _)| {
        let key: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
        key["type"].as_str().map(str::to_owned)
    });
    types.collect()
}

/// Returns whether `field_manager`, or any if it is `None`, owns the list of conditions as a single field, because the
/// CRD does not set `x-kubernetes-list-type: map`. In such a list, no client can apply one condition without erasing
/// the others.
pub fn has_atomic_conditions(managed: &str, field_manager: Option<&str>) -> bool {
    // This avoids parsing `managedFields` for almost all objects.
    managed.contains(r#""f:conditions":{}"#)
        && parse_entries(managed)
            .iter()
            .filter(|entry| field_manager.is_none_or(|name| entry.manager.as_deref() == Some(name)))
            .filter_map(|entry| serde_json::from_str::<Value>(entry.fields?.get()).ok())
            .any(|fields| fields["f:status"]["f:conditions"].as_object().is_some_and(Map::is_empty))
}

/// Returns whether the set of fields that `field_manager` has applied still has every field of `desired`.
pub fn owns_all_fields(managed: &str, field_manager: &str, desired: &Value) -> bool {
    let entries = parse_entries(managed).into_iter();
    let (ours, others): (Vec<_>, Vec<_>) = entries.partition(|entry| entry.is_applied_by(field_manager, ""));
    let parse = |entry: ManagedFieldsEntry| serde_json::from_str::<Value>(entry.fields?.get()).ok();
    let Some(ours) = ours.into_iter().next().and_then(parse) else { return false };
    let others: Vec<Value> = others.into_iter().filter_map(parse).collect();
    let mut desired = desired.clone();
    let api_version = desired["apiVersion"].as_str().unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    match !group.contains('.') || group.ends_with(".k8s.io") {
        true => null_empty_maps(&mut desired),
        false => null_empty_maps(&mut desired["metadata"]),
    }
    if let Some(object) = desired.as_object_mut() {
        ["apiVersion", "kind", "status"].iter().for_each(|field| drop(object.remove(*field)));
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            UNOWNED_METADATA.iter().for_each(|field| drop(metadata.remove(*field)));
        }
    }
    covers_value(&ours, &others.iter().collect::<Vec<_>>(), &desired)
}

/// Replaces the empty maps that the server drops by `null`, because they are in no set.
fn null_empty_maps(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match value {
            Value::Object(map) if map.is_empty() && BUILT_IN_MAPS.contains(&name.as_str()) => *value = Value::Null,
            _ => null_empty_maps(value),
        }),
        Value::Array(elements) => elements.iter_mut().for_each(null_empty_maps),
        _ => {}
    }
}

/// Returns whether a set has every field of a desired value. `others` are the sets of other managers for the same
/// value.
fn covers_value(set: &Value, others: &[&Value], desired: &Value) -> bool {
    let Some(set) = set.as_object() else { return false };
    match desired {
        _ if set.is_empty() => true, // a leaf, which is owned as a whole
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            let path = format!("f:{name}");
            let others: Vec<&Value> = others.iter().filter_map(|other| other.get(&path)).collect();
            match set.get(&path) {
                Some(below) => value.is_null() || covers_value(below, &others, value),
                None => has_no_owner(value, &others),
            }
        }),
        Value::Array(elements) => {
            let owned = set.keys().filter(|path| path.starts_with("k:") || path.starts_with("v:")).count();
            elements.len() <= owned && elements.iter().all(|element| covers_element(set, others, element))
        }
        _ => false,
    }
}

/// Returns whether a value that is in no set can still be as it was applied. This is so for an empty list whose
/// elements have keys. If other managers have added elements to it, they own them, and applying the empty list again
/// would not remove them. It is not so for an empty object: if it is in no set, another client has replaced it.
fn has_no_owner(value: &Value, others: &[&Value]) -> bool {
    match value {
        Value::Null => others.iter().all(|other| has_only_elements(other)),
        Value::Array(elements) => elements.is_empty() && others.iter().all(|other| has_only_elements(other)),
        Value::Object(fields) if !fields.is_empty() => fields.iter().all(|(name, value)| {
            let path = format!("f:{name}");
            let others: Vec<&Value> = others.iter().filter_map(|other| other.get(&path)).collect();
            has_no_owner(value, &others)
        }),
        _ => false,
    }
}

/// Returns whether a set has only elements of a list, which it names by their keys or by their values.
fn has_only_elements(set: &Value) -> bool {
    set.as_object().is_some_and(|set| {
        let mut paths = set.keys().filter(|path| *path != ".").peekable();
        paths.peek().is_some() && paths.all(|path| path.starts_with("k:") || path.starts_with("v:"))
    })
}

/// Returns whether a set has an element of a list. A key that the element leaves out may have any value, because the
/// server sets a default.
fn covers_element(set: &Map<String, Value>, others: &[&Value], element: &Value) -> bool {
    set.iter().any(|(path, below)| match path.split_at_checked(2) {
        Some(("k:", key)) => {
            let key: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
            let is_same = key.iter().all(|(name, value)| element.get(name).is_none_or(|found| found == value));
            let others: Vec<&Value> = others.iter().filter_map(|other| other.get(path)).collect();
            is_same && !key.is_empty() && covers_value(below, &others, element)
        }
        Some(("v:", value)) => serde_json::from_str::<Value>(value).is_ok_and(|value| value == *element),
        _ => false,
    })
}

/// Returns whether a value has no fields that a manager could own.
pub fn has_no_fields(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(has_no_fields),
        Value::Array(elements) => elements.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Checks a desired object against the set `fields` of the operator and the set `other` of another manager.
    fn check(fields: Value, other: Value, desired: Value) -> bool {
        let managed = json!([
            { "manager": "op", "operation": "Apply", "fieldsV1": fields },
            { "manager": "kubectl", "operation": "Update", "fieldsV1": other },
            { "manager": "op", "operation": "Apply", "subresource": "status", "fieldsV1": { "f:status": {} } },
        ]);
        owns_all_fields(&managed.to_string(), "op", &desired)
    }

    fn deployment() -> Value {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "d", "namespace": "n", "labels": { "a": "b", "c": "d" } },
            "spec": { "replicas": 1, "template": { "spec": {
                "initContainers": [], "tolerations": [{ "key": "t" }],
                "containers": [{ "name": "c", "args": [], "resources": {}, "ports": [{ "containerPort": 80 }] }],
            } } },
        })
    }

    /// The set that Kubernetes 1.36 has for `deployment`.
    fn fields() -> Value {
        json!({
            "f:metadata": { "f:labels": { "f:a": {}, "f:c": {} } },
            "f:spec": { "f:replicas": {}, "f:template": { "f:spec": {
                "f:tolerations": {},
                "f:containers": { "k:{\"name\":\"c\"}": {
                    ".": {}, "f:name": {}, "f:args": {}, "f:resources": {},
                    "f:ports": { "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": { ".": {}, "f:containerPort": {} } },
                } },
            } } },
        })
    }

    fn without(path: &[&str]) -> Value {
        let mut fields = fields();
        let (last, above) = path.split_last().unwrap();
        let parent = above.iter().fold(&mut fields, |value, name| &mut value[*name]);
        parent.as_object_mut().unwrap().remove(*last).unwrap();
        fields
    }

    #[test]
    fn what_was_applied_is_owned() {
        assert!(check(fields(), json!({ "f:spec": { "f:paused": {} } }), deployment()));
    }

    #[test]
    fn what_somebody_took_is_not() {
        let container = ["f:spec", "f:template", "f:spec", "f:containers", "k:{\"name\":\"c\"}"];
        for path in [
            &["f:spec", "f:replicas"][..],
            &["f:metadata", "f:labels", "f:a"],
            &["f:metadata"],
            &["f:spec", "f:template", "f:spec", "f:tolerations"],
            &container[..4],
            &[&container[..], &["f:ports"]].concat(),
        ] {
            assert!(!check(without(path), json!({}), deployment()), "{path:?}");
        }
        assert!(!owns_all_fields("", "op", &deployment()));
        assert!(!owns_all_fields("[]", "op", &deployment()));
    }

    #[test]
    fn an_empty_list_is_as_desired_unless_somebody_takes_it() {
        let added =
            json!({ "f:spec": { "f:template": { "f:spec": { "f:initContainers": { "k:{\"name\":\"x\"}": {} } } } } });
        assert!(check(fields(), added, deployment()), "their element stays");
        let args = ["f:spec", "f:template", "f:spec", "f:containers", "k:{\"name\":\"c\"}", "f:args"];
        let taken = args.iter().rev().fold(json!({}), |below, name| json!({ *name: below }));
        assert!(!check(without(&args), taken, deployment()), "in an element of a list, too");
    }

    #[test]
    fn an_empty_object_that_somebody_has_replaced_is_not_as_desired() {
        let desired =
            json!({ "spec": { "volumes": [{ "name": "v", "emptyDir": {} }], "issuer": { "selfSigned": {} } } });
        let set = |volume: Value, issuer: Value| json!({ "f:spec": { "f:volumes": { "k:{\"name\":\"v\"}": volume }, "f:issuer": issuer } });
        let (volume, issuer) = (json!({ ".": {}, "f:name": {}, "f:emptyDir": {} }), json!({ "f:selfSigned": {} }));
        assert!(check(set(volume.clone(), issuer.clone()), json!({}), desired.clone()));
        let replaced = json!({ ".": {}, "f:name": {} });
        let theirs = set(json!({ "f:hostPath": { "f:path": {} } }), json!({ "f:ca": {} }));
        assert!(!check(set(replaced, issuer), theirs.clone(), desired.clone()), "a volume");
        assert!(!check(set(volume.clone(), json!({ "f:other": {} })), theirs.clone(), desired.clone()), "an issuer");
        let mut taken = set(volume, json!({}));
        taken["f:spec"].as_object_mut().unwrap().remove("f:issuer");
        assert!(!check(taken, theirs, desired), "all of an object of empty ones");
        let lists = json!({ "spec": { "keep": 1, "lists": { "initContainers": [] } } });
        assert!(check(json!({ "f:spec": { "f:keep": {} } }), json!({}), lists), "empty lists are in no set");
        let kept = json!({ "f:metadata": { "f:labels": { "f:a": {} } } });
        let map = |api: &str| json!({ "apiVersion": api, "metadata": { "labels": { "a": "b" } }, "data": {} });
        assert!(check(kept.clone(), json!({}), map("v1")), "nor are empty maps of built-in kinds");
        assert!(!check(kept, json!({}), map("test.dev/v1")), "those of others are");
    }

    #[test]
    fn of_two_elements_that_differ_in_a_default_both_are_needed() {
        let desired = json!({ "spec": { "ports": [{ "port": 53 }, { "port": 53, "protocol": "UDP" }] } });
        let key = |protocol| format!("k:{{\"port\":53,\"protocol\":\"{protocol}\"}}");
        let element = json!({ ".": {}, "f:port": {}, "f:protocol": {} });
        let one = json!({ "f:spec": { "f:ports": { key("UDP"): element } } });
        let both = json!({ "f:spec": { "f:ports": { key("UDP"): element, key("TCP"): element } } });
        assert!(!check(one, json!({}), desired.clone()));
        assert!(check(both, json!({}), desired));
    }

    #[test]
    fn conditions_are_known_by_their_owners() {
        let set = json!({ "f:status": { "f:conditions": { "k:{\"type\":\"Degraded\"}": { ".": {} } }, "f:x": {} } });
        let managed =
            json!([{ "manager": "op/failure", "operation": "Apply", "subresource": "status", "fieldsV1": set }]);
        assert_eq!(applied_conditions(&managed.to_string(), "op/failure"), ["Degraded"]);
        assert_eq!(applied_conditions(&managed.to_string(), "op"), [""; 0]);
    }
}
