//! The entries of `metadata.managedFields`.

use super::fields::Fields;
use serde_json::{Value, json};

/// A field manager, and its way of writing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Manager {
    /// Whether by server-side apply.
    pub apply: bool,
    /// The field manager.
    pub name: String,
    /// The version that was written, such as `apps/v1`.
    pub api_version: String,
    /// The subresource that was written, or nothing.
    pub subresource: String,
}

impl Manager {
    /// Whether it is the same one: an applier is, in whatever version it applies.
    pub fn is(&self, other: &Self) -> bool {
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
    pub fn read(object: &Value) -> Self {
        let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
        let list = object["metadata"]["managedFields"].as_array().into_iter().flatten();
        Self(
            list.map(|it| Entry {
                manager: Manager {
                    apply: it["operation"] == "Apply",
                    name: text(it, "manager"),
                    api_version: text(it, "apiVersion"),
                    subresource: text(it, "subresource"),
                },
                time: text(it, "time"),
                fields: Fields::read(&it["fieldsV1"]),
            })
            .collect(),
        )
    }

    /// As `metadata.managedFields`, in the order of the real server.
    pub fn write(mut self) -> Value {
        self.0.retain(|it| !it.fields.children.is_empty());
        self.0.sort_by(|a, b| {
            let key = |it: &Entry| (!it.manager.apply, it.time.clone(), it.manager.clone());
            key(a).cmp(&key(b))
        });
        Value::Array(self.0.iter().map(Entry::write).collect())
    }

    /// The fields of a manager.
    pub fn of(&self, manager: &Manager) -> Option<&Fields> {
        self.entry(manager).map(|it| &it.fields)
    }

    /// The entry of a manager.
    pub fn entry(&self, manager: &Manager) -> Option<&Entry> {
        self.0.iter().find(|it| it.manager.is(manager))
    }

    /// Replaces the fields of a manager, and their version. An entry that is new has no time.
    pub fn set(&mut self, manager: &Manager, fields: Fields) {
        match self.0.iter_mut().find(|it| it.manager.is(manager)) {
            Some(entry) => (entry.manager, entry.fields) = (manager.clone(), fields),
            None => self.0.push(Entry { manager: manager.clone(), time: String::new(), fields }),
        }
    }

    /// Sets the time of a manager's entry.
    pub fn touch(&mut self, manager: &Manager, now: &str) {
        for entry in self.0.iter_mut().filter(|it| it.manager.is(manager)) {
            now.clone_into(&mut entry.time);
        }
    }

    /// Whether all but the times is the same.
    pub fn have_fields_of(&self, other: &Self) -> bool {
        let is_in = |it: &Entry| other.of(&it.manager) == Some(&it.fields);
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
