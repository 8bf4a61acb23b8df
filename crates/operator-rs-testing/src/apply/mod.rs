//! Server-side apply and field ownership.

mod compare;
mod conflict;
mod fields;
mod managers;
mod merge;
mod schema;
#[cfg(test)]
mod tests;

pub use managers::Manager;
pub use schema::{Keys, Schema, Shape};

use super::{built_in::is_built_in, refusal::Refusal, versions::Versions};
use compare::Changes;
use conflict::field_conflict;
use fields::{Fields, remove_members};
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
        Schema::root(self.resource, self.declared)
    }

    /// The paths of a value that are tracked.
    fn retain_tracked(&self, fields: &mut Fields) {
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
        let mut fields = Fields::owned_by_applier(&config, self.schema());
        self.retain_tracked(&mut fields);
        let before = self.tracked_entries(live);
        let mut entries = before.clone();
        let last = before.entry(&self.manager).cloned();
        entries.set_fields(&self.manager, fields);
        let mut merged = merge::merge_applied(live, &config, self.schema());
        if let Some(last) = last {
            merged = self.remove_abandoned(merged, &entries, &last)?;
        }
        self.take_ownership(&mut entries, live, &merged, force)?;
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
        let is_repeated = is_same(live, &merged) && entries.have_fields_of(&Entries::of_object(live));
        if !(changes_nothing || is_repeated) {
            entries.set_time(&self.manager, self.now);
        }
        put_entries(&mut merged, entries.write());
        Ok(merged)
    }

    /// `new` with its managed fields, where it is the result of a create, an update, or a patch.
    ///
    /// # Errors
    /// If a conversion fails.
    pub fn update(&self, live: &Value, mut new: Value, created: bool) -> Result<Value, Refusal> {
        let before = Entries::of_object(live);
        let reset = new["metadata"]["managedFields"] == json!([{}]);
        if is_built_in(self.resource) {
            drop_empty(&mut new);
        }
        if reset || (before.0.is_empty() && !created) {
            new["metadata"].as_object_mut().map(|metadata| metadata.remove("managedFields"));
            return Ok(new); // never applied: not tracked
        }
        let mut entries = before.clone();
        let changes = self.compare_versions(live, &new);
        self.take_ownership(&mut entries, live, &new, true)?;
        let mut fields =
            entries.fields_of(&self.manager).cloned().unwrap_or_default().difference_with(&changes.removed);
        fields.add(&changes.set);
        self.retain_tracked(&mut fields);
        entries.set_fields(&self.manager, fields);
        if !changes.set.is_empty() {
            entries.set_time(&self.manager, self.now);
        }
        put_entries(&mut new, entries.write());
        Ok(new)
    }

    /// The entries of an object; the fields of an object that was never applied belong to `before-first-apply`.
    fn tracked_entries(&self, live: &Value) -> Entries {
        let mut entries = Entries::of_object(live);
        if entries.0.is_empty() {
            let mut empty = json!({ "metadata": {} });
            if is_built_in(self.resource) && live["spec"].is_object() {
                empty["spec"] = json!({}); // their specs are never absent
            }
            let fields = self.compare_versions(&empty, live).set;
            let name = "before-first-apply".to_owned();
            let manager = Manager { apply: false, name, ..self.manager.clone() };
            entries.set_fields(&manager, fields);
            entries.set_time(&manager, self.now);
        }
        entries
    }

    fn compare_versions(&self, old: &Value, new: &Value) -> Changes {
        self.changes_by(old, new, self.schema())
    }

    fn changes_by(&self, old: &Value, new: &Value, schema: Schema) -> Changes {
        let mut changes = Changes::between_versions(old, new, schema);
        self.retain_tracked(&mut changes.set);
        self.retain_tracked(&mut changes.removed);
        changes
    }

    /// Takes the changed fields from all other managers, who may object. Each has fields of the version that it wrote.
    fn take_ownership(&self, entries: &mut Entries, old: &Value, new: &Value, force: bool) -> Result<(), Refusal> {
        let mut changes = BTreeMap::new();
        for entry in &entries.0 {
            let version = &entry.manager.api_version;
            if !changes.contains_key(version) && self.knows_version(version) {
                let schema = self.schema_of(version);
                let (old, new) = (
                    self.convert_version(old, self.request_version(), version)?,
                    self.convert_version(new, self.request_version(), version)?,
                );
                changes
                    .insert(version.clone(), self.changes_by(&old, &new, Schema::root(self.resource, schema.as_ref())));
            }
        }
        let changed = |it: &Entry| changes.get(&it.manager.api_version);
        entries.0.retain(|entry| entry.manager.is_same(&self.manager) || changed(entry).is_some());
        let others = || entries.0.iter().filter(|entry| !entry.manager.is_same(&self.manager));
        let mut conflicts: Vec<_> = others()
            .filter_map(|entry| Some((&entry.manager, entry.fields.intersection_with(&changed(entry)?.set).paths())))
            .filter(|conflict| !conflict.1.is_empty())
            .collect();
        conflicts.sort_by_key(|(manager, _)| &manager.name);
        if !force && !conflicts.is_empty() {
            return Err(field_conflict(&conflicts));
        }
        for entry in &mut entries.0 {
            if let Some(changes) =
                changes.get(&entry.manager.api_version).filter(|_| !entry.manager.is_same(&self.manager))
            {
                entry.fields = entry.fields.difference_with(&changes.set).difference_with(&changes.removed);
            }
        }
        Ok(())
    }

    /// Removes fields that the manager owned, no longer applies, and no other manager owns. The fields of others are
    /// read in their versions: the object as it is then need not have all that a version requires.
    fn remove_abandoned(&self, merged: Value, entries: &Entries, last: &Entry) -> Result<Value, Refusal> {
        if last.fields.is_empty() {
            return Ok(merged);
        }
        let first = match self.knows_version(&last.manager.api_version) {
            true => last.manager.api_version.as_str(),
            false => self.request_version(),
        };
        let declared = self.schema_of(first);
        let schema = Schema::root(self.resource, declared.as_ref());
        let mut last = last.fields.clone().with_parents();
        if let Some(meta) = last.children.get_mut("f:metadata") {
            meta.own = false; // no apply removes the name
        }
        let before = self.convert_version(&merged, self.request_version(), first)?;
        let others =
            entries.0.iter().map(|entry| entry.manager.api_version.as_str()).filter(|version| *version != first);
        let others: BTreeSet<_> = others.filter(|version| self.knows_version(version)).collect();
        let (mut at, mut merged, mut pruned) = (first, before.clone(), remove_members(&before, &last, schema));
        for version in std::iter::once(first).chain(others) {
            (merged, pruned) =
                (self.convert_version(&merged, at, version)?, self.convert_version(&pruned, at, version)?);
            at = version;
            let declared = self.schema_of(version);
            let schema = Schema::root(self.resource, declared.as_ref());
            let mut keep = Fields::default();
            entries
                .0
                .iter()
                .filter(|entry| entry.manager.api_version == version)
                .for_each(|entry| keep.add(&entry.fields));
            let mut keep = keep.with_parents();
            keep.add(&Fields::owned_by_applier(&pruned, schema).with_parents());
            pruned = remove_members(
                &merged,
                &Fields::owned_by_applier(&merged, schema).with_parents().difference_with(&keep),
                schema,
            );
        }
        let pruned = Fields::owned_by_applier(&self.convert_version(&pruned, at, first)?, schema).with_parents();
        let every = Fields::owned_by_applier(&before, schema).with_parents();
        self.convert_version(
            &remove_members(&before, &every.difference_with(&pruned).intersection_with(&last), schema),
            first,
            self.request_version(),
        )
    }

    /// The version of the request.
    fn request_version(&self) -> &str {
        &self.manager.api_version
    }

    fn knows_version(&self, version: &str) -> bool {
        self.versions.is_none_or(|versions| versions.includes(version))
    }

    fn schema_of(&self, version: &str) -> Option<Value> {
        self.versions.map(|versions| versions.schema(version)).or_else(|| self.declared.cloned())
    }

    fn convert_version(&self, object: &Value, from: &str, to: &str) -> Result<Value, Refusal> {
        self.versions.map_or_else(|| Ok(object.clone()), |versions| versions.convert(object, from, to))
    }
}

/// Returns true if an object was the same before, apart from its managed fields.
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
    object["metadata"].as_object_mut().map(|metadata| metadata.remove("managedFields"));
    if entries.as_array().is_some_and(|list| !list.is_empty()) {
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
