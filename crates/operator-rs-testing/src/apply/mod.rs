//! Server-side apply and field ownership.

mod compare;
mod fields;
mod managers;
mod merge;
mod schema;
#[cfg(test)]
mod tests;

pub use managers::Manager;
pub use schema::{Keys, Schema, Shape, is_built_in};

use super::refusal::{Refusal, Subject};
use compare::Changes;
use fields::{Fields, without};
use managers::Entries;
use serde_json::{Value, json};

/// Who writes to which resource, and the fields that this way of writing cannot change.
pub struct Writer<'a> {
    /// The resource, such as `deployments.apps`.
    pub resource: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// The object's name.
    pub name: &'a str,
    /// Who writes.
    pub manager: Manager,
    /// Fields at the top that are not written this way: `status`, or all others.
    pub reset: &'a [&'a str],
    /// The schema of the resource, where its CRD is known.
    pub declared: Option<&'a Value>,
    /// The time of the write.
    pub now: &'a str,
}

impl Writer<'_> {
    fn schema(&self) -> Schema<'_> {
        Schema::of(self.resource, self.declared)
    }

    /// The paths of a value that are tracked.
    fn strip(&self, fields: &mut Fields) {
        for name in ["apiVersion", "kind"].iter().chain(self.reset) {
            fields.remove(&[name]);
        }
        const META: [&str; 9] = [
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        ];
        META.iter().for_each(|name| fields.remove(&["metadata", name]));
        if let Some(meta) = fields.children.get_mut("f:metadata") {
            meta.own = false;
            if meta.children.is_empty() {
                fields.children.remove("f:metadata");
            }
        }
        fields.own = false;
    }

    /// `live` after `config` is applied to it. `live` has only apiVersion, kind and metadata when it is created.
    pub fn apply(&self, live: &Value, mut config: Value, force: bool) -> Result<Value, Refusal> {
        if is_built_in(self.resource) {
            drop_nulls(&mut config);
        } else {
            drop_nulls(&mut config["metadata"]);
        }
        if let Some(meta) = config["metadata"].as_object_mut() {
            for name in ["resourceVersion", "uid", "managedFields", "creationTimestamp"] {
                meta.remove(name);
            }
        }
        let mut fields = Fields::of(&config, self.schema());
        self.strip(&mut fields);
        if let Some(config) = config.as_object_mut() {
            config.retain(|name, _| !self.reset.contains(&name.as_str()));
        }
        let before = self.tracked(live);
        let mut entries = before.clone();
        let last = before.of(&self.manager).cloned().unwrap_or_default();
        entries.set(&self.manager, fields);
        let mut merged = merge::merge(live, &config, self.schema());
        merged = self.prune(merged, &entries, last)?;
        let changes = self.changes(live, &merged);
        self.take(&mut entries, &changes, force)?;
        if is_built_in(self.resource) {
            drop_empty(&mut merged);
        }
        // One that changes nothing but the owners has no time.
        let is_same = live["metadata"]["uid"].is_string() && changes.set.is_empty() && changes.removed.is_empty();
        put_entries(&mut merged, entries.write(&Entries::read(live), if is_same { "" } else { self.now }));
        Ok(merged)
    }

    /// `new` with its managed fields, where it is the result of a create, an update, or a patch.
    pub fn update(&self, live: &Value, mut new: Value, created: bool) -> Value {
        let before = Entries::read(live);
        let reset = new["metadata"]["managedFields"] == json!([{}]);
        if is_built_in(self.resource) {
            drop_empty(&mut new);
        }
        if reset || (before.0.is_empty() && !created) {
            new["metadata"].as_object_mut().map(|it| it.remove("managedFields"));
            return new; // nobody has applied yet: not tracked
        }
        let mut entries = before.clone();
        let changes = self.changes(live, &new);
        let _ = self.take(&mut entries, &changes, true);
        let mut fields = entries.of(&self.manager).cloned().unwrap_or_default().minus(&changes.removed);
        fields.add(&changes.set);
        self.strip(&mut fields);
        entries.set(&self.manager, fields);
        put_entries(&mut new, entries.write(&before, self.now));
        new
    }

    /// The entries of an object; the fields of one that nobody has applied belong to `before-first-apply`.
    fn tracked(&self, live: &Value) -> Entries {
        let mut entries = Entries::read(live);
        if entries.0.is_empty() {
            let fields = self.changes(&json!({ "metadata": {} }), live).set;
            let name = "before-first-apply".to_owned();
            let manager = Manager { apply: false, name, subresource: String::new(), ..self.manager.clone() };
            entries.set(&manager, fields);
        }
        entries
    }

    fn changes(&self, old: &Value, new: &Value) -> Changes {
        let mut changes = Changes::between(old, new, self.schema());
        self.strip(&mut changes.set);
        self.strip(&mut changes.removed);
        changes
    }

    /// Takes the changed fields from all other managers, who may object.
    fn take(&self, entries: &mut Entries, changes: &Changes, force: bool) -> Result<(), Refusal> {
        let others = || entries.0.iter().filter(|it| it.manager != self.manager);
        let mut conflicts: Vec<_> = others()
            .map(|it| (&it.manager, it.fields.both(&changes.set).paths()))
            .filter(|it| !it.1.is_empty())
            .collect();
        conflicts.sort_by_key(|(manager, _)| &manager.name);
        if !force && !conflicts.is_empty() {
            return Err(Refusal::field_conflict(&conflicts));
        }
        for entry in &mut entries.0 {
            if entry.manager != self.manager {
                entry.fields = entry.fields.minus(&changes.set).minus(&changes.removed);
            }
        }
        Ok(())
    }

    /// Removes what the manager owned, no longer applies, and nobody else owns.
    fn prune(&self, merged: Value, entries: &Entries, last: Fields) -> Result<Value, Refusal> {
        let mut last = last.with_parents();
        if let Some(meta) = last.children.get_mut("f:metadata") {
            meta.own = false; // no apply removes the name
        }
        let mut owned = Fields::default();
        entries.0.iter().for_each(|it| owned.add(&it.fields));
        let owned = owned.with_parents();
        if last.minus(&owned).is_empty() {
            return Ok(merged);
        }
        let all = |value: &Value| Fields::of(value, self.schema()).with_parents();
        let mut keep = all(&without(&merged, &last, self.schema()));
        keep.add(&owned);
        let every = all(&merged);
        let pruned = without(&merged, &every.minus(&keep), self.schema());
        let mut pruned = without(&merged, &every.minus(&all(&pruned)).both(&last), self.schema());
        drop_nulls(&mut pruned["metadata"]);
        if is_built_in(self.resource) {
            drop_nulls(&mut pruned);
        } else if let (None, Some(path)) = (self.declared, new_null(&merged, &pruned, "")) {
            // The real server makes a `null` of a map that was emptied, and then refuses it.
            let why = format!("Invalid value: \"null\": {path} in body must be of type object: \"null\"");
            let it = Subject { resource: self.resource, kind: self.kind, name: self.name };
            return Err(Refusal::invalid(it, &path, "FieldValueTypeInvalid", &why));
        }
        Ok(pruned)
    }
}

fn put_entries(object: &mut Value, entries: Value) {
    object["metadata"].as_object_mut().map(|it| it.remove("managedFields"));
    if entries.as_array().is_some_and(|it| !it.is_empty()) {
        object["metadata"]["managedFields"] = entries;
    }
}

/// A field that is `null` is one that is not set.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|_, it| !it.is_null());
            object.values_mut().for_each(drop_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Built-in kinds keep no empty lists, and no empty maps of strings.
fn drop_empty(value: &mut Value) {
    const MAPS: [&str; 10] = [
        "labels",
        "annotations",
        "data",
        "binaryData",
        "stringData",
        "limits",
        "requests",
        "nodeSelector",
        "parameters",
        "overhead",
    ];
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(drop_empty);
            object.retain(|name, it| match it {
                Value::Array(list) => !list.is_empty(),
                Value::Object(map) => !(map.is_empty() && MAPS.contains(&name.as_str())),
                _ => true,
            });
        }
        Value::Array(list) => list.iter_mut().for_each(drop_empty),
        _ => {}
    }
}

/// The path of a `null` that was not there before.
fn new_null(before: &Value, after: &Value, path: &str) -> Option<String> {
    if after.is_null() && !before.is_null() {
        return Some(path.to_owned());
    }
    let dot = if path.is_empty() { "" } else { "." };
    after.as_object()?.iter().find_map(|(name, it)| new_null(&before[name], it, &format!("{path}{dot}{name}")))
}
