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

use super::{refusal::Refusal, versions::Versions};
use compare::Changes;
use fields::{Fields, without};
use managers::{Entries, Entry};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A write to a resource: its field manager, and the fields that it cannot change.
pub struct Writer<'a> {
    /// The resource, such as `deployments.apps`.
    pub resource: &'a str,
    /// The field manager that writes.
    pub manager: Manager,
    /// Fields at the top that are not written this way: `status`, or all others.
    pub reset: &'a [&'a str],
    /// The schema of the resource, where its CRD is known.
    pub declared: Option<&'a Value>,
    /// The versions of the resource, where they differ.
    pub versions: Option<&'a Versions>,
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
        let (uid, known) = (&config["metadata"]["uid"], &live["metadata"]["uid"]);
        let has_other_uid = !uid.is_null() && uid != known;
        if let Some(meta) = config["metadata"].as_object_mut() {
            for name in ["resourceVersion", "uid", "managedFields", "creationTimestamp"] {
                meta.remove(name);
            }
        }
        let mut fields = Fields::of(&config, self.schema());
        self.strip(&mut fields);
        let before = self.tracked(live);
        let mut entries = before.clone();
        let last = before.entry(&self.manager).cloned();
        entries.set(&self.manager, fields);
        let mut merged = merge::merge(live, &config, self.schema());
        if let Some(last) = last {
            merged = self.prune(merged, &entries, &last)?;
        }
        self.take(&mut entries, live, &merged, force)?;
        let changes_nothing = is_same(live, &merged) && !has_other_uid;
        for name in self.reset {
            merged[*name] = live[*name].clone();
        }
        drop_nulls(&mut merged["metadata"]);
        if is_built_in(self.resource) {
            drop_nulls(&mut merged);
            drop_empty(&mut merged);
        }
        // An apply that only changes who owns fields keeps the time. One that changes fields which are reset does not.
        let is_repeated = is_same(live, &merged) && entries.have_fields_of(&Entries::read(live));
        if !(changes_nothing || is_repeated) {
            entries.touch(&self.manager, self.now);
        }
        put_entries(&mut merged, entries.write());
        Ok(merged)
    }

    /// `new` with its managed fields, where it is the result of a create, an update, or a patch.
    ///
    /// # Errors
    /// If a conversion fails.
    pub fn update(&self, live: &Value, mut new: Value, created: bool) -> Result<Value, Refusal> {
        let before = Entries::read(live);
        let reset = new["metadata"]["managedFields"] == json!([{}]);
        if is_built_in(self.resource) {
            drop_empty(&mut new);
        }
        if reset || (before.0.is_empty() && !created) {
            new["metadata"].as_object_mut().map(|it| it.remove("managedFields"));
            return Ok(new); // nobody has applied yet: not tracked
        }
        let mut entries = before.clone();
        let changes = self.changes(live, &new);
        self.take(&mut entries, live, &new, true)?;
        let mut fields = entries.of(&self.manager).cloned().unwrap_or_default().minus(&changes.removed);
        fields.add(&changes.set);
        self.strip(&mut fields);
        entries.set(&self.manager, fields);
        if !changes.set.is_empty() {
            entries.touch(&self.manager, self.now);
        }
        put_entries(&mut new, entries.write());
        Ok(new)
    }

    /// The entries of an object; the fields of one that nobody has applied belong to `before-first-apply`.
    fn tracked(&self, live: &Value) -> Entries {
        let mut entries = Entries::read(live);
        if entries.0.is_empty() {
            let mut empty = json!({ "metadata": {} });
            if is_built_in(self.resource) && live["spec"].is_object() {
                empty["spec"] = json!({}); // their specs are never absent
            }
            let fields = self.changes(&empty, live).set;
            let name = "before-first-apply".to_owned();
            let manager = Manager { apply: false, name, ..self.manager.clone() };
            entries.set(&manager, fields);
            entries.touch(&manager, self.now);
        }
        entries
    }

    fn changes(&self, old: &Value, new: &Value) -> Changes {
        self.changes_by(old, new, self.schema())
    }

    fn changes_by(&self, old: &Value, new: &Value, schema: Schema) -> Changes {
        let mut changes = Changes::between(old, new, schema);
        self.strip(&mut changes.set);
        self.strip(&mut changes.removed);
        changes
    }

    /// Takes the changed fields from all other managers, who may object. Each has fields of the version that it wrote.
    fn take(&self, entries: &mut Entries, old: &Value, new: &Value, force: bool) -> Result<(), Refusal> {
        let mut changes = BTreeMap::new();
        for entry in &entries.0 {
            let version = &entry.manager.api_version;
            if !changes.contains_key(version) && self.knows(version) {
                let schema = self.schema_of(version);
                let (old, new) =
                    (self.convert(old, self.version(), version)?, self.convert(new, self.version(), version)?);
                changes
                    .insert(version.clone(), self.changes_by(&old, &new, Schema::of(self.resource, schema.as_ref())));
            }
        }
        let changed = |it: &Entry| changes.get(&it.manager.api_version);
        entries.0.retain(|it| it.manager.is(&self.manager) || changed(it).is_some());
        let others = || entries.0.iter().filter(|it| !it.manager.is(&self.manager));
        let mut conflicts: Vec<_> = others()
            .filter_map(|it| Some((&it.manager, it.fields.both(&changed(it)?.set).paths())))
            .filter(|it| !it.1.is_empty())
            .collect();
        conflicts.sort_by_key(|(manager, _)| &manager.name);
        if !force && !conflicts.is_empty() {
            return Err(Refusal::field_conflict(&conflicts));
        }
        for entry in &mut entries.0 {
            if let Some(changes) = changes.get(&entry.manager.api_version).filter(|_| !entry.manager.is(&self.manager))
            {
                entry.fields = entry.fields.minus(&changes.set).minus(&changes.removed);
            }
        }
        Ok(())
    }

    /// Removes what the manager owned, no longer applies, and nobody else owns. What others own is looked up in their
    /// versions: the object as it is then need not have all that a version requires.
    fn prune(&self, merged: Value, entries: &Entries, last: &Entry) -> Result<Value, Refusal> {
        if last.fields.is_empty() {
            return Ok(merged);
        }
        let first = match self.knows(&last.manager.api_version) {
            true => last.manager.api_version.as_str(),
            false => self.version(),
        };
        let declared = self.schema_of(first);
        let schema = Schema::of(self.resource, declared.as_ref());
        let mut last = last.fields.clone().with_parents();
        if let Some(meta) = last.children.get_mut("f:metadata") {
            meta.own = false; // no apply removes the name
        }
        let before = self.convert(&merged, self.version(), first)?;
        let others = entries.0.iter().map(|it| it.manager.api_version.as_str()).filter(|it| *it != first);
        let others: BTreeSet<_> = others.filter(|it| self.knows(it)).collect();
        let (mut at, mut merged, mut pruned) = (first, before.clone(), without(&before, &last, schema));
        for version in std::iter::once(first).chain(others) {
            (merged, pruned) = (self.convert(&merged, at, version)?, self.convert(&pruned, at, version)?);
            at = version;
            let declared = self.schema_of(version);
            let schema = Schema::of(self.resource, declared.as_ref());
            let mut keep = Fields::default();
            entries.0.iter().filter(|it| it.manager.api_version == version).for_each(|it| keep.add(&it.fields));
            let mut keep = keep.with_parents();
            keep.add(&Fields::of(&pruned, schema).with_parents());
            pruned = without(&merged, &Fields::of(&merged, schema).with_parents().minus(&keep), schema);
        }
        let pruned = Fields::of(&self.convert(&pruned, at, first)?, schema).with_parents();
        let every = Fields::of(&before, schema).with_parents();
        self.convert(&without(&before, &every.minus(&pruned).both(&last), schema), first, self.version())
    }

    /// The version of the request.
    fn version(&self) -> &str {
        &self.manager.api_version
    }

    fn knows(&self, version: &str) -> bool {
        self.versions.is_none_or(|it| it.have(version))
    }

    fn schema_of(&self, version: &str) -> Option<Value> {
        self.versions.map(|it| it.schema(version)).or_else(|| self.declared.cloned())
    }

    fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Value, Refusal> {
        self.versions.map_or_else(|| Ok(object.clone()), |it| it.convert(object, from, to))
    }
}

/// Whether an object was the same before, but for its managed fields.
fn is_same(before: &Value, after: &Value) -> bool {
    let strip = |it: &Value| {
        let mut it = it.clone();
        for name in ["apiVersion", "kind"] {
            it.as_object_mut().map(|it| it.remove(name));
        }
        put_entries(&mut it, Value::Null);
        it
    };
    before["metadata"]["uid"].is_string() && strip(before) == strip(after)
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
