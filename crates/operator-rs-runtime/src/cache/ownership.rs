//! Proofs from `metadata.managedFields` that no other client has changed what this operator applied.
//!
//! The API server takes a field out of a manager's set when another manager changes or removes it.
//! So an object is as desired when the hash of what was applied last, which it carries in an
//! annotation, is that of what is desired now, and when our set still has every path of it. kube
//! has nothing for this.

use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use std::borrow::Cow;

/// The annotation with the hash of what was applied last.
pub(crate) const DESIRED_HASH: &str = "runtime.operator-rs.io/desired-hash";

/// The fields of `metadata` that have no owner: the server takes them from the URL of the request, or sets
/// them itself.
const UNOWNED_METADATA: [&str; 7] =
    ["name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"];

/// Maps of built-in kinds. The server does not keep an empty one, other than an empty object such as `emptyDir`.
/// (One that is missing here costs a write after a restart.)
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

/// A hash that is the same in every process and version: the first 64 bits of SHA-256, in hexadecimal
/// digits.
pub fn hash(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

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
    // An entry that cannot be read proves nothing.
    serde_json::from_str(managed).unwrap_or_default()
}

/// The text of the set of what `manager` has applied, to the object or to a subresource of it.
pub fn applied_fields<'a>(managed: &'a str, field_manager: &str, subresource: &str) -> Option<&'a str> {
    parse_entries(managed).into_iter().find(|it| it.is_applied_by(field_manager, subresource))?.fields.map(RawValue::get)
}

/// The types of the conditions that `manager` has applied to the status.
pub fn applied_conditions(managed: &str, field_manager: &str) -> Vec<String> {
    let fields = applied_fields(managed, field_manager, "status").and_then(|it| serde_json::from_str::<Value>(it).ok());
    let keys = fields.as_ref().and_then(|it| it["f:status"]["f:conditions"].as_object());
    let types = keys.into_iter().flatten().filter_map(|(key, _)| {
        let key: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
        key["type"].as_str().map(str::to_owned)
    });
    types.collect()
}

/// Whether the list of conditions is one field as a whole, of a manager or of any: its schema does not say
/// `x-kubernetes-list-type: map`. Then nobody can apply one condition without erasing all others.
pub fn has_atomic_conditions(managed: &str, field_manager: Option<&str>) -> bool {
    // A look at the text is enough for almost all objects.
    managed.contains(r#""f:conditions":{}"#)
        && parse_entries(managed)
            .iter()
            .filter(|it| field_manager.is_none_or(|name| it.manager.as_deref() == Some(name)))
            .filter_map(|it| serde_json::from_str::<Value>(it.fields?.get()).ok())
            .any(|it| it["f:status"]["f:conditions"].as_object().is_some_and(Map::is_empty))
}

/// Whether what `manager` has applied still has every field of `desired`.
pub fn owns_all_fields(managed: &str, field_manager: &str, desired: &Value) -> bool {
    let (ours, others): (Vec<_>, Vec<_>) = parse_entries(managed).into_iter().partition(|it| it.is_applied_by(field_manager, ""));
    let parse = |it: ManagedFieldsEntry| serde_json::from_str::<Value>(it.fields?.get()).ok();
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
        ["apiVersion", "kind", "status"].iter().for_each(|it| drop(object.remove(*it)));
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            UNOWNED_METADATA.iter().for_each(|it| drop(metadata.remove(*it)));
        }
    }
    covers_value(&ours, &others.iter().collect::<Vec<_>>(), &desired)
}

/// Replaces empty maps that the server does not keep by `null`: nobody has them.
fn null_empty_maps(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, it)| match it {
            Value::Object(map) if map.is_empty() && BUILT_IN_MAPS.contains(&name.as_str()) => *it = Value::Null,
            _ => null_empty_maps(it),
        }),
        Value::Array(elements) => elements.iter_mut().for_each(null_empty_maps),
        _ => {}
    }
}

/// Whether a set has every field of a value that has fields or elements.
fn covers_value(set: &Value, others: &[&Value], desired: &Value) -> bool {
    let Some(set) = set.as_object() else { return false };
    match desired {
        _ if set.is_empty() => true, // a leaf: all of it
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            let path = format!("f:{name}");
            let others: Vec<&Value> = others.iter().filter_map(|it| it.get(&path)).collect();
            match set.get(&path) {
                Some(below) => value.is_null() || covers_value(below, &others, value),
                None => has_no_owner(value, &others),
            }
        }),
        Value::Array(elements) => {
            let owned = set.keys().filter(|it| it.starts_with("k:") || it.starts_with("v:")).count();
            elements.len() <= owned && elements.iter().all(|it| covers_element(set, others, it))
        }
        _ => false,
    }
}

/// Whether a value would be in no set if it was as it was applied. Empty lists whose elements have keys are in
/// none. Elements that others have put into one are theirs: to apply it once more would not remove them.
/// (An empty object is in a set: without it, somebody has put something else in its place.)
fn has_no_owner(value: &Value, others: &[&Value]) -> bool {
    match value {
        Value::Null => others.iter().all(|it| has_only_elements(it)),
        Value::Array(elements) => elements.is_empty() && others.iter().all(|it| has_only_elements(it)),
        Value::Object(fields) if !fields.is_empty() => fields.iter().all(|(name, value)| {
            let path = format!("f:{name}");
            let below: Vec<&Value> = others.iter().filter_map(|it| it.get(&path)).collect();
            has_no_owner(value, &below)
        }),
        _ => false,
    }
}

/// Whether a set is of elements of a list that have keys, or are their own.
fn has_only_elements(set: &Value) -> bool {
    set.as_object().is_some_and(|it| {
        let mut paths = it.keys().filter(|path| *path != ".").peekable();
        paths.peek().is_some() && paths.all(|path| path.starts_with("k:") || path.starts_with("v:"))
    })
}

/// Whether a set has an element of a list. Keys that the element leaves out have their defaults.
fn covers_element(set: &Map<String, Value>, others: &[&Value], element: &Value) -> bool {
    set.iter().any(|(path, below)| match path.split_at_checked(2) {
        Some(("k:", key)) => {
            let key: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
            let same = key.iter().all(|(name, value)| element.get(name).is_none_or(|it| it == value));
            let others: Vec<&Value> = others.iter().filter_map(|it| it.get(path)).collect();
            same && !key.is_empty() && covers_value(below, &others, element)
        }
        Some(("v:", value)) => serde_json::from_str::<Value>(value).is_ok_and(|it| it == *element),
        _ => false,
    })
}

/// Whether there is nothing in a value that anybody could own.
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

    /// `fields` of the operator, and what another manager has.
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

    /// As a Kubernetes 1.36 has it for `deployment`.
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
        let parent = above.iter().fold(&mut fields, |it, name| &mut it[*name]);
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
