//! Deletes objects: a dry run first, then the deletion, then a wait until they are gone.

use std::time::Duration;

use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};

use super::{
    Action, Cluster, CustomObject, Id, ProgressEvent, Removal, Verb,
    discovery::Resource,
    object::{find_condition, is_being_deleted, resource_version, string_items, uid},
    owner,
    refusal::{self, Refusal},
    wait::WaitState,
};
use diagnostics::{Hint as _, count};
use go_data::yaml::Value;
use model::Deadline;

/// The time limit for the garbage collector to see objects before their kind is deleted.
const COLLECTED: Duration = Duration::from_secs(60);

/// An object as it is on the server.
#[derive(Clone, Debug)]
pub struct Live {
    pub id: Id,
    pub(super) resource: Resource,
    pub object: Value,
    pub removal: Removal,
}

impl Cluster {
    /// The objects that exist, in any version, and how the owner may remove each.
    pub fn find_existing(&self, ids: &[Id]) -> anyhow::Result<Vec<Live>> {
        let mut existing = Vec::new();
        let mut refusals = Vec::new();
        for id in ids {
            // An object of a kind that is not served does not exist.
            let Some(resource) = self.find_resource_in_any_version(id)? else { continue };
            let mut id = id.clone();
            if resource.namespaced && id.namespace.is_empty() {
                id.namespace.clone_from(&self.namespace);
            }
            match self.read_object(&resource, &id)? {
                Ok(None) => {}
                Ok(Some(object)) => {
                    let removal = self.owner.removal_of(&object);
                    existing.push(Live { id, resource, object, removal });
                }
                Err(refusal) => refusals.push((id.to_string(), refusal)),
            }
        }
        match refusals[..] {
            [] => Ok(existing),
            _ => Err(refusal::combine_refusals("nothing was changed", &refusals)),
        }
    }

    /// Makes a dry run of the deletions; returns those that the server refuses.
    pub fn try_delete(&self, all: &[Live]) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut refusals = Vec::new();
        for live in all {
            if let Err(refusal) = self.delete_object(live, true)? {
                refusals.push((live.id.to_string(), refusal));
            }
        }
        Ok(refusals)
    }

    /// Deletes objects in order, and waits until all are gone.
    pub fn delete(
        &self,
        all: &[Live],
        deadline: Deadline,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<()> {
        for live in all {
            if live.id.is_crd() {
                self.delete_objects_of(live, deadline, report)?;
            }
            if let Err(refusal) = self.delete_object(live, false)? {
                return Err(refusal.into_error(&format!("{} cannot be deleted", live.id)));
            }
            report(ProgressEvent::Action(Action::new(Verb::Delete, &live.id)));
        }
        let left = self.wait_until(deadline, report, || {
            for live in all {
                if let Some(reason) = self.deletion_blocker(live)? {
                    return Ok(WaitState::Not(reason));
                }
            }
            Ok(WaitState::Done)
        })?;
        match left {
            None => Ok(()),
            Some(reason) => Err(anyhow::format_err!("timed out: {reason}")).hint(
                "a finalizer is removed by the program that added it, which must be running; if that program is gone for good, remove the finalizer by hand with `kubectl edit`",
            ),
        }
    }

    /// Deletes the objects of a CRD while it is served, after the garbage collector has seen each: it forgets what they
    /// own if their kind goes before it has looked. What is left goes with the CRD.
    pub fn delete_objects_of(
        &self,
        crd: &Live,
        deadline: Deadline,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<()> {
        if !self.collects_garbage()? {
            return Ok(());
        }
        let Ok(custom_objects) = self.list_custom_objects(&crd.object)? else { return Ok(()) };
        let ids: Vec<Id> = custom_objects.into_iter().map(|object| object.id).collect();
        let Ok(all) = self.find_existing(&ids) else { return Ok(()) };
        for live in &all {
            // A user who may only delete the CRD deletes the objects with it.
            let _ = self.delete_if_owner_unchanged(live, false, &DeleteParams::foreground())?;
        }
        self.wait_until(deadline.at_most(COLLECTED), report, || {
            for live in &all {
                if let Some(reason) = self.deletion_blocker(live)? {
                    return Ok(WaitState::Not(reason));
                }
            }
            Ok(WaitState::Done)
        })?;
        Ok(())
    }

    /// Returns whether a garbage collector runs: the controller manager, which contains it, adds this ConfigMap to every
    /// namespace.
    fn collects_garbage(&self) -> anyhow::Result<bool> {
        Ok(self.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt")?.code == 200)
    }

    /// Gives up the fields that we have set on objects that existed before; the objects stay.
    pub fn relinquish_fields(
        &self,
        all: &[Live],
        dry_run: bool,
    ) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut refusals = Vec::new();
        for live in all {
            if !self.owner.has_adopted(&live.object) {
                continue;
            }
            let params = PatchParams { dry_run, ..PatchParams::apply(&self.owner.adopter) };
            let nothing = Patch::Apply(owner::empty_apply_of(&live.object));
            let (requests, name) = live.resource.requests_for(&live.id)?;
            let response = self.send(&requests.patch(&name, &params, &nothing)?)?;
            // An object that is gone has no fields of ours.
            let is_gone = response.code == 409 && !self.still_exists(live)?;
            if !response.is_success() && !is_gone {
                refusals.push((live.id.to_string(), refusal::from_response(&response)));
            }
        }
        Ok(refusals)
    }

    /// Returns whether this very object exists.
    fn still_exists(&self, live: &Live) -> anyhow::Result<bool> {
        let found = self.read_object(&live.resource, &live.id)?;
        Ok(!found.is_ok_and(|now| now.is_none_or(|now| uid(&now) != uid(&live.object))))
    }

    /// Deletes only the object whose owner was determined: by its uid, in the version that was read. If others have written
    /// to it since (controllers often update the status), its owner is determined again.
    fn delete_object(&self, live: &Live, dry_run: bool) -> anyhow::Result<Result<(), Refusal>> {
        // A workload is gone only when its pods are: they need objects that are deleted after it.
        let params = if live.id.is_workload() {
            DeleteParams::foreground()
        } else {
            DeleteParams::background()
        };
        self.delete_if_owner_unchanged(live, dry_run, &params)
    }

    fn delete_if_owner_unchanged(
        &self,
        live: &Live,
        dry_run: bool,
        params: &DeleteParams,
    ) -> anyhow::Result<Result<(), Refusal>> {
        let (requests, name) = live.resource.requests_for(&live.id)?;
        let mut known_version = resource_version(&live.object).to_owned();
        for _ in 0..20 {
            let this = Preconditions {
                uid: Some(uid(&live.object).to_owned()),
                resource_version: Some(known_version.clone()),
            };
            let params = DeleteParams { dry_run, ..params.clone() }.preconditions(this);
            let response = self.send(&requests.delete(&name, &params)?)?;
            match response.code {
                404 => return Ok(Ok(())),
                409 => {}
                _ if response.is_success() => return Ok(Ok(())),
                _ => return Ok(Err(refusal::from_response(&response))),
            }
            let now = match self.read_object(&live.resource, &live.id)? {
                Err(refusal) => return Ok(Err(refusal)),
                Ok(None) => return Ok(Ok(())),
                Ok(Some(now)) => now,
            };
            if uid(&now) != uid(&live.object)
                || !live.removal.is_still(&self.owner.removal_of(&now))
            {
                let message = "another program has just recreated it or changed its owner";
                return Ok(Err(Refusal::new(message, Some("run the command again"))));
            }
            if resource_version(&now) == known_version {
                return Ok(Err(refusal::from_response(&response)));
            }
            resource_version(&now).clone_into(&mut known_version);
        }
        let message = "it changes too often to determine its owner";
        Ok(Err(Refusal::new(
            message,
            Some("stop the program that writes to it, then run the command again"),
        )))
    }

    /// Returns why a deleted object still exists; none when it is gone.
    fn deletion_blocker(&self, live: &Live) -> anyhow::Result<Option<String>> {
        let read_error =
            |refusal: Refusal| refusal.into_error(&format!("{} cannot be read", live.id));
        // A recreated object is another object.
        let found = self.read_object(&live.resource, &live.id)?.map_err(read_error)?;
        let Some(object) = found.filter(|object| uid(object) == uid(&live.object)) else {
            return Ok(None);
        };
        let custom_objects =
            if live.id.is_crd() { self.list_custom_objects(&object)? } else { Ok(Vec::new()) };
        Ok(Some(format!(
            "{} {}",
            live.id,
            blocker_message(&object, &custom_objects.unwrap_or_default())
        )))
    }
}

/// Returns why an object that is being deleted still exists.
fn blocker_message(object: &Value, custom_objects: &[CustomObject]) -> String {
    if !custom_objects.is_empty() {
        let stuck: Vec<String> = custom_objects
            .iter()
            .filter(|object| object.going && !object.finalizers.is_empty())
            .map(|object| {
                format!("{} ({})", object.id, program_finalizers(&object.finalizers).join(", "))
            })
            .collect();
        return match stuck.len() {
            0 => format!("still has {}", count(custom_objects.len(), "object")),
            1..=5 => format!("waits for finalizers of {}", stuck.join(", ")),
            many => {
                format!("waits for finalizers of {} and {} more", stuck[..5].join(", "), many - 5)
            }
        };
    }
    let conditions = [
        "NamespaceFinalizersRemaining",
        "NamespaceContentRemaining",
        "NamespaceDeletionContentFailure",
    ];
    let messages = conditions.iter().filter_map(|kind| find_condition(object, kind));
    let messages: Vec<&str> =
        messages.filter(|message| message.0 == "True").map(|message| message.1).collect();
    let mut finalizers = string_items(&object["metadata"]["finalizers"]);
    // The server removes its own finalizer.
    finalizers.retain(|finalizer| *finalizer != "customresourcecleanup.apiextensions.k8s.io");
    if !messages.is_empty() {
        format!("still exists: {}", messages.join("; "))
    } else if finalizers == ["foregroundDeletion"] {
        "waits until what it owns is gone".to_owned()
    } else if is_being_deleted(object) && !finalizers.is_empty() {
        format!("waits for its finalizers: {}", program_finalizers(&finalizers).join(", "))
    } else {
        "still exists".to_owned()
    }
}

/// The finalizers without that of the garbage collector, which waits as well, if there are others.
fn program_finalizers<T: AsRef<str>>(all: &[T]) -> Vec<&str> {
    let all = all.iter().map(AsRef::as_ref);
    let others: Vec<&str> =
        all.clone().filter(|finalizer| *finalizer != "foregroundDeletion").collect();
    if others.is_empty() { all.collect() } else { others }
}

#[test]
fn what_delays_a_deletion_is_named() {
    use go_data::yaml::json;
    let going = |more: Value| {
        let mut object = json!({"metadata": {"deletionTimestamp": "now"}});
        for (key, value) in more.as_object().unwrap() {
            object[key] = value.clone();
        }
        object
    };
    assert_eq!(blocker_message(&going(json!({})), &[]), "still exists");
    let finalized = json!({"metadata": {"deletionTimestamp": "now", "finalizers": ["a", "b"]}});
    assert_eq!(blocker_message(&finalized, &[]), "waits for its finalizers: a, b");
    let foreground =
        json!({"metadata": {"deletionTimestamp": "now", "finalizers": ["foregroundDeletion"]}});
    assert_eq!(blocker_message(&foreground, &[]), "waits until what it owns is gone");
    let remaining = json!([
        {"type": "NamespaceContentRemaining", "status": "True", "message": "pods. has 1 resource instances"},
        {"type": "NamespaceFinalizersRemaining", "status": "False", "message": "none"},
    ]);
    assert_eq!(
        blocker_message(&going(json!({"status": {"conditions": remaining}})), &[]),
        "still exists: pods. has 1 resource instances"
    );
    let custom_objects = |name: &str, finalizers: &[&str]| CustomObject {
        id: Id {
            api_version: "a/v1".into(),
            kind: "A".into(),
            namespace: "x".into(),
            name: name.into(),
        },
        uid: String::new(),
        finalizers: finalizers.iter().map(ToString::to_string).collect(),
        going: true,
    };
    assert_eq!(
        blocker_message(&going(json!({})), &[custom_objects("a", &[])]),
        "still has 1 object"
    );
    assert_eq!(
        blocker_message(
            &going(json!({})),
            &[custom_objects("a", &[]), custom_objects("b", &["f/g"])]
        ),
        "waits for finalizers of A x/b (f/g)"
    );
    // The garbage collector waits as well.
    assert_eq!(
        blocker_message(&going(json!({})), &[custom_objects("b", &["f/g", "foregroundDeletion"])]),
        "waits for finalizers of A x/b (f/g)"
    );
    let both = json!({"metadata": {"deletionTimestamp": "now", "finalizers": ["a", "foregroundDeletion"]}});
    assert_eq!(blocker_message(&both, &[]), "waits for its finalizers: a");
}
