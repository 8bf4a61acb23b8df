//! The state of a cluster without the fields that differ in every run.

use super::super::Cluster;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// All objects, by resource, namespace and name.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterState(BTreeMap<String, Value>);

/// Objects of these resources are no results of an operator.
pub const IGNORED: [&str; 3] = ["events", "events.events.k8s.io", "leases.coordination.k8s.io"];

/// Fields that hold the time, or a number that depends on it.
const VOLATILE: [&str; 10] = [
    "creationTimestamp",
    "deletionTimestamp",
    "lastHeartbeatTime",
    "lastProbeTime",
    "lastTransitionTime",
    "lastUpdateTime",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// A field of a kind whose value differs in every run.
pub struct IgnoredField {
    /// The resource, such as `secrets`.
    pub resource: String,
    /// The path, such as `data.password`.
    pub path: String,
}

impl ClusterState {
    /// The state of a cluster now.
    pub fn of(cluster: &Cluster, ignored: &[IgnoredField]) -> Self {
        let mut objects = Vec::new();
        cluster.with_store(|store| {
            for (resource, collection) in store.collections().filter(|(it, _)| !IGNORED.contains(&it.as_str())) {
                objects.extend(collection.objects.values().map(|object| (resource.clone(), object.value())));
            }
        });
        // Generated names follow the order of creation; what refers to such a name, or to a uid, follows the object.
        objects.sort_by_key(|(_, it)| it["metadata"]["uid"].as_str().map(str::to_owned));
        let mut generated: BTreeMap<String, usize> = BTreeMap::new();
        let mut aliases = BTreeMap::new();
        for (resource, object) in &objects {
            let word = |it: &str| object["metadata"][it].as_str().unwrap_or_default().to_owned();
            let mut name = word("name");
            if let Some(prefix) = object["metadata"]["generateName"].as_str() {
                let count = generated.entry(format!("{resource} {prefix}")).or_default();
                *count += 1;
                aliases.insert(name, format!("{prefix}({count})"));
                name = format!("{prefix}({count})");
            }
            aliases.insert(word("uid"), format!("{UID_OF}{resource} {}/{name}", word("namespace")));
        }
        let id = |resource: &str, it: &Value| {
            let meta = &it["metadata"];
            format!("{resource} {}/{}", meta["namespace"].as_str().unwrap_or("-"), meta["name"].as_str().unwrap_or("-"))
        };
        let bare = objects.into_iter().map(|(resource, mut object)| {
            let managers = field_managers(&object);
            let deleting = !object["metadata"]["deletionTimestamp"].is_null();
            strip_volatile(&mut object, &aliases);
            object["metadata"]["managedFields"] = managers;
            for field in ignored.iter().filter(|field| field.resource == resource) {
                hide_value(&mut object, &field.path);
            }
            if deleting {
                object["metadata"]["deletionTimestamp"] = "set".into();
            }
            (id(&resource, &object), object)
        });
        Self(bare.collect())
    }
}

impl ClusterState {
    /// Returns whether there is such an object.
    pub fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// The names of all objects.
    pub fn ids(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// The names of the objects that another state has not, has in addition, or has with other fields.
    pub fn changed_ids<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = &'s String> {
        let added = other.0.keys().filter(|id| !self.has(id));
        self.0.keys().chain(added).filter(|id| self.differs_from(other, id))
    }

    /// Returns whether an object differs in another state, apart from its status and from the owners of its fields.
    pub fn differs_from(&self, other: &Self, id: &str) -> bool {
        let without_status = |state: &Self| {
            let mut object = state.0.get(id).cloned()?;
            object.as_object_mut()?.remove("status");
            object["metadata"].as_object_mut()?.remove("managedFields");
            Some(object)
        };
        without_status(self) != without_status(other)
    }

    /// The names of the objects that own an object.
    pub fn owner_ids(&self, id: &str) -> Vec<String> {
        let object = self.0.get(id).unwrap_or(&Value::Null);
        let references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        let names = references.filter_map(|reference| reference["refers to"].as_str()?.strip_prefix(UID_OF));
        names.map(|name| name.replace(" /", " -/")).collect()
    }
}

/// The prefix of references to the uid of an object. The resource, the namespace and the name follow it.
const UID_OF: &str = "the uid of ";

/// The owners of fields, without times.
fn field_managers(object: &Value) -> Value {
    let list = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    let entries = list.map(|entry| {
        let word = |field: &str| entry[field].as_str().unwrap_or_default();
        let name = format!("{} {} {}", word("manager"), word("operation"), word("subresource"));
        (name.trim_end().to_owned(), Value::String(entry["fieldsV1"].to_string()))
    });
    Value::Object(entries.collect::<Map<_, _>>())
}

/// Takes out what is volatile, and gives names that are the same in every run.
fn strip_volatile(value: &mut Value, aliases: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(alias) = aliases.get(text) {
                text.clone_from(alias);
            }
        }
        Value::Object(object) => {
            if let Some(uid) = object.get("uid").and_then(Value::as_str).and_then(|uid| aliases.get(uid)).cloned() {
                object.insert("refers to".into(), uid.into());
            }
            object.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            object.values_mut().for_each(|field| strip_volatile(field, aliases));
            if let Some(Value::Array(conditions)) = object.get_mut("conditions") {
                conditions.sort_by_key(|condition| condition["type"].as_str().map(str::to_owned));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| strip_volatile(item, aliases)),
        _ => {}
    }
}

/// Replaces the value at a path, if there is one. The names on the path may contain dots themselves.
fn hide_value(value: &mut Value, path: &str) {
    let Value::Object(fields) = value else { return };
    for (name, field) in fields {
        match path.strip_prefix(name.as_str()) {
            Some("") => *field = "ignored".into(),
            Some(rest) => rest.strip_prefix('.').into_iter().for_each(|rest| hide_value(field, rest)),
            None => {}
        }
    }
}

/// The words with which the differences begin.
pub const DIFFERENT_STATE: &str = "the state is not the one of the undisturbed run";

/// The differences, a line for each object; `None` if there are none.
pub fn difference(expected: &ClusterState, found: &ClusterState) -> Option<String> {
    let ids: BTreeSet<_> = expected.0.keys().chain(found.0.keys()).collect();
    let mut lines = Vec::new();
    for id in ids {
        match (expected.0.get(id), found.0.get(id)) {
            (Some(_), None) => lines.push(format!("{id} is missing")),
            (None, Some(_)) => lines.push(format!("{id} should not be there")),
            (Some(expected), Some(found)) => compare_fields(expected, found, &format!("{id}: "), &mut lines),
            (None, None) => {}
        }
    }
    if lines.is_empty() {
        return None;
    }
    let more = lines.len().saturating_sub(8);
    lines.truncate(8);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    Some(format!("{DIFFERENT_STATE}:\n  {}", lines.join("\n  ")))
}

fn compare_fields(expected: &Value, found: &Value, path: &str, lines: &mut Vec<String>) {
    match (expected, found) {
        _ if expected == found => {}
        (Value::Object(a), Value::Object(b)) => {
            let names: BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for name in names {
                compare_fields(&expected[name], &found[name], &format!("{path}.{name}"), lines);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                compare_fields(a, b, &format!("{path}[{i}]"), lines);
            }
        }
        _ => lines.push(format!("{path} is {found} instead of {expected}")),
    }
}
