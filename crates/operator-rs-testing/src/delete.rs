//! Deletions, finalizers, and the garbage collection of owned objects.

use super::{
    admission::{Desk, Stage},
    object::{Key, Object},
    refusal::{Refusal, Subject},
    request::Request,
    store::{Id, Store, now},
    versions,
};
use serde_json::{Value, json};
use std::sync::Arc;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// The result of a deletion: the object's last state, and whether it is gone.
pub struct Deleted {
    /// The object.
    pub object: Arc<Object>,
    /// True if the object is removed; otherwise it waits for its finalizers.
    pub gone: bool,
}

/// Deletes an object as its body, the `DeleteOptions`, says.
pub fn delete(
    store: &mut Store,
    request: &Request,
    key: &Key,
    options: &Value,
    desk: &mut Desk,
) -> Result<Deleted, Refusal> {
    let resource = &request.resource;
    let kind = store.collection(resource).kind.clone();
    let subject = Subject { resource, kind: &kind.name, name: &key.1 };
    let before = store.get(resource, key).ok_or_else(|| Refusal::not_found(subject))?;
    let condition = |name: &str| options["preconditions"][name].as_str().filter(|value| !value.is_empty());
    if let Some(uid) = condition("uid").filter(|uid| *uid != before.uid) {
        let why = format!("the UID in the precondition ({uid}) does not match the UID in record ({})", before.uid);
        let why = format!("{why}. The object might have been deleted and then recreated");
        return Err(Refusal::precondition(subject, &why));
    }
    if let Some(version) = condition("resourceVersion").filter(|version| *version != before.version.to_string()) {
        let why = format!("the ResourceVersion in the precondition ({version}) does not match");
        let why =
            format!("{why} the ResourceVersion in record ({}). The object might have been modified", before.version);
        return Err(Refusal::precondition(subject, &why));
    }
    review_delete(store, desk, request, &kind.name, &before)?;
    let policy = options["propagationPolicy"].as_str().unwrap_or(request.param("propagationPolicy"));
    Ok(delete_by_policy(store, resource, &before, policy))
}

/// # Errors
/// If a webhook refuses the deletion.
pub fn review_delete(
    store: &Store,
    desk: &mut Desk,
    request: &Request,
    kind: &str,
    before: &Object,
) -> Result<(), Refusal> {
    let before = &versions::read_version(store, request, before)?;
    desk.review(Stage::Mutating, request, kind, None, (Value::Null, Some(before)))?;
    desk.review(Stage::Validating, request, kind, None, (Value::Null, Some(before)))?;
    Ok(())
}

/// Deletes an object, or marks it where it has finalizers.
pub fn delete_by_policy(store: &mut Store, resource: &str, before: &Arc<Object>, policy: &str) -> Deleted {
    let mut value = before.value();
    let meta = &mut value["metadata"];
    let old = meta["finalizers"].as_array().cloned().unwrap_or_default();
    let marked = !meta["deletionTimestamp"].is_null();
    // A policy replaces the one of an earlier deletion.
    let is_policy = |it: &Value| [FOREGROUND, ORPHAN].iter().any(|policy| it == policy);
    let mut finalizers = old.clone();
    if ["Background", "Foreground", "Orphan"].contains(&policy) {
        finalizers.retain(|finalizer| !is_policy(finalizer));
        match policy {
            "Foreground" => finalizers.push(json!(FOREGROUND)),
            "Orphan" => finalizers.push(json!(ORPHAN)),
            _ => {}
        }
    }
    if finalizers.is_empty() {
        let object = store.remove(resource, &before.key).unwrap_or_else(|| before.clone());
        return Deleted { object, gone: true };
    }
    if marked && finalizers == old {
        return Deleted { object: before.clone(), gone: false };
    }
    meta["finalizers"] = Value::Array(finalizers);
    if !marked {
        meta["deletionTimestamp"] = now().into();
        meta["deletionGracePeriodSeconds"] = 0.into();
        if let Some(generation) = meta["generation"].as_i64() {
            meta["generation"] = (generation + 1).into();
        }
    }
    Deleted { object: store.put(resource, value), gone: false }
}

/// Looks at everything that the garbage collector has to look at.
pub fn collect_garbage(store: &mut Store) {
    while let Some(id) = store.suspects.pop() {
        collect_object(store, &id);
    }
}

fn collect_object(store: &mut Store, id: &Id) {
    let Some(object) = store.get(&id.0, &id.1) else { return };
    if object.deleting {
        let value = object.value();
        let has =
            |finalizer| value["metadata"]["finalizers"].as_array().is_some_and(|list| list.contains(&json!(finalizer)));
        if has(ORPHAN) {
            find_dependents(store, &object)
                .iter()
                .for_each(|(id, child)| remove_owners(store, &id.0, child, std::slice::from_ref(&object.uid)));
            return remove_finalizer(store, &id.0, value, ORPHAN);
        }
        if has(FOREGROUND) {
            let children = find_dependents(store, &object);
            if children.is_empty() {
                return remove_finalizer(store, &id.0, value, FOREGROUND);
            }
            for (id, child) in children.iter().filter(|(_, it)| !it.deleting) {
                delete_by_policy(store, &id.0, child, "Background");
            }
        }
    }
    let gone: Vec<_> = object.owners.iter().filter(|owner| !store.by_uid.contains_key(*owner)).cloned().collect();
    if gone.is_empty() {
        return;
    }
    if gone.len() == object.owners.len() {
        delete_by_policy(store, &id.0, &object, "Background");
    } else {
        remove_owners(store, &id.0, &object, &gone);
    }
}

fn find_dependents(store: &Store, owner: &Object) -> Vec<(Id, Arc<Object>)> {
    let ids = store.dependents.get(&owner.uid).into_iter().flatten();
    ids.filter_map(|id| Some((id.clone(), store.get(&id.0, &id.1)?))).collect()
}

/// Takes owners out of an object.
fn remove_owners(store: &mut Store, resource: &str, object: &Object, uids: &[String]) {
    let mut value = object.value();
    let meta = &mut value["metadata"];
    if let Some(owners) = meta["ownerReferences"].as_array_mut() {
        owners.retain(|owner| !uids.iter().any(|uid| owner["uid"] == **uid));
        if owners.is_empty() {
            meta.as_object_mut().map(|fields| fields.remove("ownerReferences"));
        }
    }
    store.put(resource, value);
}

/// Takes a finalizer out of an object, which goes with its last one.
fn remove_finalizer(store: &mut Store, resource: &str, mut value: Value, finalizer: &str) {
    let meta = &mut value["metadata"];
    let Some(list) = meta["finalizers"].as_array_mut() else { return };
    list.retain(|other| other != finalizer);
    if !list.is_empty() {
        store.put(resource, value);
        return;
    }
    meta.as_object_mut().map(|fields| fields.remove("finalizers"));
    let word = |it: &str| meta[it].as_str().unwrap_or_default().to_owned();
    let key = (word("namespace"), word("name"));
    store.remove(resource, &key);
}
