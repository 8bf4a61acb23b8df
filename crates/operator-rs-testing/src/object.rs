//! A stored object of any kind: its JSON text, and the fields that are read often.

use serde_json::Value;
use std::collections::BTreeMap;

/// Namespace and name; the namespace of cluster-scoped objects is empty.
pub type Key = (String, String);

/// An object in one version.
#[derive(Debug)]
pub struct Object {
    /// Its namespace and name.
    pub key: Key,
    /// The version of its last change.
    pub version: u64,
    /// Its uid.
    pub uid: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The uids of the owners of the object.
    pub owners: Vec<String>,
    /// True if it waits for its finalizers.
    pub deleting: bool,
    /// Its JSON without `apiVersion` and `kind`.
    text: String,
}

impl Object {
    /// Keeps a value; its metadata is complete.
    pub fn new(mut value: Value, version: u64) -> Self {
        value["metadata"]["resourceVersion"] = version.to_string().into();
        if let Some(object) = value.as_object_mut() {
            object.remove("apiVersion");
            object.remove("kind");
        }
        let meta = &value["metadata"];
        let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let labels = meta["labels"].as_object().into_iter().flatten();
        let owners = meta["ownerReferences"].as_array().into_iter().flatten();
        Self {
            key: (word(&meta["namespace"]), word(&meta["name"])),
            version,
            uid: word(&meta["uid"]),
            labels: labels.map(|(key, value)| (key.clone(), word(value))).collect(),
            owners: owners.map(|owner| word(&owner["uid"])).collect(),
            deleting: !meta["deletionTimestamp"].is_null(),
            text: value.to_string(),
        }
    }

    /// Returns the object as a value without `apiVersion` and `kind`.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// Returns the object as an item of a list of a built-in kind.
    pub fn item(&self) -> &str {
        &self.text
    }

    /// Returns the object as JSON text with its type.
    pub fn typed(&self, api_version: &str, kind: &str) -> String {
        format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}",{}"#, &self.text[1..])
    }

    /// Only the metadata, as JSON text with its type.
    pub fn metadata_only(&self) -> String {
        let meta = self.value()["metadata"].take();
        format!(r#"{{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{meta}}}"#)
    }
}
