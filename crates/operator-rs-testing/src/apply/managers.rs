//! The entries of `metadata.managedFields`.

use super::fields::Fields;
use serde_json::{Value, json};

/// A field manager, and its way of writing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Manager {
    /// True if the manager uses server-side apply.
    pub apply: bool,
    /// The field manager.
    pub name: String,
    /// The version that was written, such as `apps/v1`.
    pub api_version: String,
    /// The subresource that was written, or nothing.
    pub subresource: String,
}

impl Manager {
    /// Returns true if both are the same manager. The version does not matter for one that applies.
    pub fn is_same(&self, other: &Self) -> bool {
        let name = |it: &Self| (it.apply, it.name.clone(), it.subresource.clone());
        name(self) == name(other) && (self.apply || self.api_version == other.api_version)
    }
}

/// One manager's fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The owner.
    pub manager: Manager,
    /// When the manager last changed the object, or nothing if it has only applied what was there.
    pub time: String,
    /// The owned fields.
    pub fields: Fields,
}

/// All entries of an object.
#[derive(Clone, Debug, Default)]
pub struct Entries(pub Vec<Entry>);

impl Entries {
    /// Reads `metadata.managedFields`.
    pub fn of_object(object: &Value) -> Self {
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let list = object["metadata"]["managedFields"].as_array().into_iter().flatten();
        Self(
            list.map(|entry| Entry {
                manager: Manager {
                    apply: entry["operation"] == "Apply",
                    name: text(entry, "manager"),
                    api_version: text(entry, "apiVersion"),
                    subresource: text(entry, "subresource"),
                },
                time: text(entry, "time"),
                fields: Fields::from_json(&entry["fieldsV1"]),
            })
            .collect(),
        )
    }

    /// Returns `metadata.managedFields`, in the order of the real server.
    pub fn write(mut self) -> Value {
        self.0.retain(|entry| !entry.fields.children.is_empty());
        self.0.sort_by(|a, b| {
            let key = |it: &Entry| (!it.manager.apply, it.time.clone(), it.manager.clone());
            key(a).cmp(&key(b))
        });
        Value::Array(self.0.iter().map(Entry::write).collect())
    }

    /// The fields of a manager.
    pub fn fields_of(&self, manager: &Manager) -> Option<&Fields> {
        self.entry(manager).map(|entry| &entry.fields)
    }

    /// The entry of a manager.
    pub fn entry(&self, manager: &Manager) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.manager.is_same(manager))
    }

    /// Replaces the fields of a manager, and their version. An entry that is new has no time.
    pub fn set_fields(&mut self, manager: &Manager, fields: Fields) {
        match self.0.iter_mut().find(|entry| entry.manager.is_same(manager)) {
            Some(entry) => (entry.manager, entry.fields) = (manager.clone(), fields),
            None => self.0.push(Entry { manager: manager.clone(), time: String::new(), fields }),
        }
    }

    /// Sets the time of a manager's entry.
    pub fn set_time(&mut self, manager: &Manager, now: &str) {
        for entry in self.0.iter_mut().filter(|entry| entry.manager.is_same(manager)) {
            now.clone_into(&mut entry.time);
        }
    }

    /// Returns true if everything but the times is the same.
    pub fn have_fields_of(&self, other: &Self) -> bool {
        let is_in = |it: &Entry| other.fields_of(&it.manager) == Some(&it.fields);
        self.0.len() == other.0.len() && self.0.iter().all(is_in)
    }
}

impl Entry {
    fn write(&self) -> Value {
        let mut entry = json!({
            "manager": self.manager.name,
            "operation": if self.manager.apply { "Apply" } else { "Update" },
            "apiVersion": self.manager.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.write(),
        });
        if !self.time.is_empty() {
            entry["time"] = json!(self.time);
        }
        if !self.manager.subresource.is_empty() {
            entry["subresource"] = json!(self.manager.subresource);
        }
        entry
    }
}
