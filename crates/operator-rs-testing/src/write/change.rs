//! Stores what a write has changed, and nothing else.

use super::{
    super::{built_in::is_built_in, object::Object, refusal::Refusal, secret::encode_string_data, structural},
    WriteRequest, Written,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Fields of the metadata that a client cannot change.
pub(super) const FIXED: [&str; 8] = [
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "namespace",
    "managedFields",
];

impl WriteRequest<'_> {
    /// Replaces an object by an update or a patch.
    pub(super) fn replace(&mut self, before: &Object, mut after: Value) -> Written {
        let (value, sent) = (self.value_of(before)?, after.clone());
        self.restore_fixed_fields(&mut after, Some(&value));
        if is_built_in(&self.request.resource) && value["spec"].is_object() && after["spec"].is_null() {
            after["spec"] = json!({}); // their specs are never absent
        }
        self.conform_to_schema(&mut after)?;
        let after = self.writer().update(&value, after, false)?;
        let after = self.review_mutation(after, &sent, Some(&value))?;
        self.check_version(before, &sent)?;
        self.store_change(before, value, after)
    }

    /// Puts back what this request cannot change.
    pub(super) fn restore_fixed_fields(&self, after: &mut Value, before: Option<&Value>) {
        let none = json!({ "metadata": {} });
        let before = before.unwrap_or(&none);
        if self.to_status() {
            let status = after["status"].take();
            *after = before.clone();
            after["status"] = status;
        } else if self.kind.status {
            after["status"] = before["status"].clone();
        }
        let reset = after["metadata"]["managedFields"] == json!([{}]);
        for name in FIXED.iter().filter(|name| !(reset && **name == "managedFields")) {
            after["metadata"][name] = before["metadata"][name].clone();
        }
        drop_null_fields(after);
    }

    /// Makes of a custom resource what its schema declares.
    pub(super) fn conform_to_schema(&self, object: &mut Value) -> Result<(), Refusal> {
        drop_empty_metadata(object);
        encode_string_data(&self.request.resource, object);
        let Some(schema) = &self.declared else { return Ok(()) };
        let unknown = structural::conform(object, schema);
        if !unknown.is_empty() && self.request.param("fieldValidation") == "Strict" {
            let unknown: Vec<_> = unknown.iter().map(|path| format!("unknown field \"{path}\"")).collect();
            let (kind, version) = (&self.kind.name, &self.request.api_version);
            let why = format!("strict decoding error: {}", unknown.join(", "));
            let why = format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {why}");
            return Err(Refusal::bad_request(why));
        }
        Ok(())
    }

    /// Stores what changed: nothing, where nothing did.
    pub(super) fn store_change(&mut self, before: &Object, old: Value, mut new: Value) -> Written {
        drop_null_fields(&mut new);
        let meta = &mut new["metadata"];
        for name in ["resourceVersion", "uid", "creationTimestamp", "generation", "namespace", "name"] {
            meta[name] = old["metadata"][name].clone();
        }
        drop_null_fields(&mut new);
        if let Some(object) = new.as_object_mut() {
            object.remove("apiVersion");
            object.remove("kind");
        }
        keep_times(&old, &mut new);
        // In the version that is stored, it may differ even then, as the version of the request cannot express
        // everything.
        if new == old && self.as_stored(new.clone())? == before.value() {
            self.review_validation(new, Some(&old))?;
            return self.current_object().map(|same| (200, same));
        }
        self.check_finalizers(&old, &new)?;
        self.check_owners(&new, &before.key.1)?;
        if self.to_status() {
            self.check_conditions(&new)?;
        }
        // A test may write the status with the rest; that does not change the desired state.
        let has_status = self.kind.status || self.store.collection(&self.request.resource).kind.status;
        let meta: &[&str] = if has_status { &["metadata", "status"] } else { &["metadata"] };
        let rest =
            |it: &Value| it.as_object().into_iter().flatten().filter(|(k, _)| !meta.contains(&k.as_str())).count();
        let same = |(name, value): (&String, &Value)| meta.contains(&name.as_str()) || old.get(name) == Some(value);
        let spec_changed = rest(&old) != rest(&new) || !new.as_object().into_iter().flatten().all(same);
        if self.kind.generation && spec_changed {
            let generation = old["metadata"]["generation"].as_i64().unwrap_or_default();
            new["metadata"]["generation"] = (generation + 1).into();
        }
        let new = self.review_validation(new, Some(&old))?;
        let meta = &new["metadata"];
        let done = !meta["deletionTimestamp"].is_null() && meta["finalizers"].as_array().is_none_or(Vec::is_empty);
        if done {
            // The answer has the version before the deletion; the event has what was stored.
            let answer = Arc::new(Object::new(self.as_stored(new)?, before.version));
            let gone = self.store.remove(&self.request.resource, &before.key);
            return gone.map(|_| (200, answer)).ok_or_else(|| Refusal::not_found(self.subject(&before.key.1)));
        }
        Ok((200, self.put(new)?))
    }
}

/// Puts back the times of `metadata.managedFields` where nothing else differs, as the API server does before it
/// compares. A webhook that undoes a change leaves such an object. As there, an entry that the new time moves behind
/// another one is a difference.
fn keep_times(old: &Value, new: &mut Value) {
    let same_but = |name: &str, a: &Value, b: &Value| {
        let (Some(a), Some(b)) = (a.as_object(), b.as_object()) else { return false };
        a.len() == b.len() && a.iter().all(|(key, it)| key == name || b.get(key) == Some(it))
    };
    let timeless = |it: &Value| {
        let mut list = it.as_array().cloned().unwrap_or_default();
        list.iter_mut().for_each(|entry| entry["time"] = Value::Null);
        list
    };
    let (before, after) = (&old["metadata"], &new["metadata"]);
    if same_but("metadata", old, new)
        && same_but("managedFields", before, after)
        && timeless(&before["managedFields"]) == timeless(&after["managedFields"])
    {
        new["metadata"] = before.clone();
    }
}

/// Empty lists and maps of the metadata are not there.
pub(super) fn drop_empty_metadata(object: &mut Value) {
    if let Some(meta) = object["metadata"].as_object_mut() {
        meta.retain(|_, it| !(it.as_object().is_some_and(Map::is_empty) || it.as_array().is_some_and(Vec::is_empty)));
    }
}

/// Drops the top-level and metadata fields that are `null`, because they count as absent.
pub(super) fn drop_null_fields(object: &mut Value) {
    if let Some(object) = object.as_object_mut() {
        if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.retain(|_, it| !it.is_null());
        }
        object.retain(|_, it| !it.is_null());
    }
}
