//! The change of an object, as the paths of its changed fields. It has no values, because they may be secret.

use crate::hash::DESIRED_HASH;
use serde_json::Value;
use std::{collections::BTreeSet, fmt};

/// The change that a dry run would have made to an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Create,
    Delete,
    /// These fields would change. The set is empty for a write that changes nothing.
    Fields(BTreeSet<String>),
    /// The object may change. The fields are unknown, because the account is not allowed to list the object.
    Unknown,
}

impl Change {
    /// Merges this change with a later one. The server has computed the later one without this one, because it stores
    /// neither.
    pub fn merge_later(self, later: Self) -> Self {
        match (self, later) {
            (Self::Fields(mut all), Self::Fields(more)) => {
                all.extend(more);
                Self::Fields(all)
            }
            (Self::Create, Self::Create | Self::Fields(_) | Self::Unknown) => Self::Create,
            (_, later) => later,
        }
    }

    /// Returns whether the write changes anything.
    pub fn is_effective(&self) -> bool {
        !matches!(self, Self::Fields(all) if all.is_empty())
    }

    pub fn verb(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Fields(_) | Self::Unknown => "change",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields(all) => write!(f, ": {}", all.iter().cloned().collect::<Vec<_>>().join(", ")),
            Self::Unknown => f.write_str(": unknown fields, because this account may not list it"),
            Self::Create | Self::Delete => Ok(()),
        }
    }
}

/// Returns the paths of the fields that differ, except for those that every write changes.
pub fn changed_paths(before: &Value, after: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let strip = |object: &Value| {
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut() {
            // The items of a list have neither of these fields.
            ["apiVersion", "kind"].iter().for_each(|field| drop(fields.remove(*field)));
        }
        if let Some(metadata) = object["metadata"].as_object_mut() {
            for field in ["managedFields", "resourceVersion", "generation", "creationTimestamp", "uid"] {
                metadata.remove(field);
            }
            if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.remove(DESIRED_HASH);
            }
        }
        object
    };
    collect_paths(&strip(before), &strip(after), "", &mut paths);
    paths
}

fn collect_paths(before: &Value, after: &Value, path: &str, paths: &mut BTreeSet<String>) {
    let is_nothing = |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    match (before, after) {
        _ if before == after => {}
        (Value::Object(_) | Value::Null, Value::Object(_) | Value::Null)
            if before.is_object() && after.is_object() || path == "metadata.annotations" =>
        {
            let keys = [before, after].into_iter().filter_map(Value::as_object).flat_map(|object| object.keys());
            keys.for_each(|key| collect_paths(&before[key], &after[key], &field_path(path, key), paths));
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                let element = |list: &[Value]| list.get(index).cloned().unwrap_or_default();
                collect_paths(&element(left), &element(right), &format!("{path}[{index}]"), paths);
            }
        }
        _ if is_nothing(before) && is_nothing(after) && !path.starts_with("spec") => {}
        _ => drop(paths.insert(path.to_owned())),
    }
}

fn field_path(path: &str, name: &str) -> String {
    match name.contains(['.', '/', '[']) {
        true => format!("{path}[{name:?}]"),
        false if path.is_empty() => name.to_owned(),
        false => format!("{path}.{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_named_by_their_paths() {
        let before = json!({
            "metadata": { "name": "a", "resourceVersion": "1", "labels": { "app": "a" } },
            "spec": { "replicas": 1, "template": { "containers": [{ "name": "c", "image": "a" }, { "name": "d" }] } },
        });
        let after = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "a", "resourceVersion": "1", "labels": { "app.io/name": "a" }, "managedFields": [{}],
                "annotations": { DESIRED_HASH: "h" } },
            "spec": { "replicas": 2, "template": { "containers": [{ "name": "c", "image": "b" }] } },
        });
        let found: Vec<_> = changed_paths(&before, &after).into_iter().collect();
        let expected = [
            "metadata.labels.app",
            "metadata.labels[\"app.io/name\"]",
            "spec.replicas",
            "spec.template.containers[0].image",
            "spec.template.containers[1]",
        ];
        assert_eq!(found, expected);
        assert!(changed_paths(&after, &after).is_empty());
    }

    #[test]
    fn an_empty_object_that_comes_or_goes_is_a_change_of_the_spec() {
        let paths = |before: Value, after: Value| changed_paths(&before, &after).into_iter().collect::<Vec<_>>();
        assert_eq!(paths(json!({ "spec": {} }), json!({ "spec": { "emptyDir": {} } })), ["spec.emptyDir"]);
        assert_eq!(paths(json!({ "metadata": {} }), json!({ "metadata": { "labels": {} } })), [""; 0]);
    }

    #[test]
    fn changes_add_up() {
        let fields = |all: &[&str]| Change::Fields(all.iter().map(ToString::to_string).collect());
        assert_eq!(fields(&["a"]).merge_later(fields(&["b"])), fields(&["a", "b"]));
        assert_eq!(Change::Create.merge_later(fields(&["a"])), Change::Create);
        assert_eq!(fields(&["a"]).merge_later(Change::Delete), Change::Delete);
        assert!(!fields(&[]).is_effective());
    }
}
