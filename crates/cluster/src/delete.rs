//! Deletes objects: a dry run first, then the deletion, then a wait until they are gone.

use std::time::Duration;

use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};

use super::{
    Action, Cluster, Event, Held, Id, Removal, Verb,
    discovery::Resource,
    object::{condition, is_going, texts, uid, version},
    owner,
    refusal::{self, Refusal},
    wait::State,
};
use diagnostics::{Hint as _, count};
use go_data::yaml::Value;
use model::Deadline;

/// How long to wait for the garbage collector to see objects before their kind goes.
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
    pub fn find(&self, ids: &[Id]) -> anyhow::Result<Vec<Live>> {
        let mut res = Vec::new();
        let mut problems = Vec::new();
        for id in ids {
            // An object of a kind that is not served does not exist.
            let Some(resource) = self.resource_in_any_version(id)? else { continue };
            let mut id = id.clone();
            if resource.namespaced && id.namespace.is_empty() {
                id.namespace.clone_from(&self.namespace);
            }
            match self.one(&resource, &id)? {
                Ok(None) => {}
                Ok(Some(object)) => {
                    let removal = self.owner.judge(&object);
                    res.push(Live { id, resource, object, removal });
                }
                Err(refusal) => problems.push((id.to_string(), refusal)),
            }
        }
        match problems[..] {
            [] => Ok(res),
            _ => Err(refusal::all("nothing was changed", &problems)),
        }
    }

    /// Makes a dry run of the deletions; returns those that the server refuses.
    pub fn try_delete(&self, all: &[Live]) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut problems = Vec::new();
        for it in all {
            if let Err(refusal) = self.delete_one(it, true)? {
                problems.push((it.id.to_string(), refusal));
            }
        }
        Ok(problems)
    }

    /// Deletes objects in order, and waits until all are gone.
    pub fn delete(
        &self,
        all: &[Live],
        deadline: Deadline,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<()> {
        for it in all {
            if it.id.is_crd() {
                self.delete_objects_of(it, deadline, report)?;
            }
            if let Err(refusal) = self.delete_one(it, false)? {
                return Err(refusal.into_error(&format!("{} cannot be deleted", it.id)));
            }
            report(Event::Action(Action::new(Verb::Delete, &it.id)));
        }
        let left = self.until(deadline, report, || {
            for it in all {
                if let Some(reason) = self.held_up(it)? {
                    return Ok(State::Not(reason));
                }
            }
            Ok(State::Done)
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
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<()> {
        if !self.collects_garbage()? {
            return Ok(());
        }
        let Ok(held) = self.held(&crd.object)? else { return Ok(()) };
        let ids: Vec<Id> = held.into_iter().map(|it| it.id).collect();
        let Ok(all) = self.find(&ids) else { return Ok(()) };
        for it in &all {
            // Who may delete the CRD alone deletes them with it.
            let _ = self.delete_after(it, false, &DeleteParams::foreground())?;
        }
        self.until(deadline.at_most(COLLECTED), report, || {
            for it in &all {
                if let Some(reason) = self.held_up(it)? {
                    return Ok(State::Not(reason));
                }
            }
            Ok(State::Done)
        })?;
        Ok(())
    }

    /// Whether a garbage collector runs: the program that it is a part of gives every namespace this ConfigMap.
    fn collects_garbage(&self) -> anyhow::Result<bool> {
        Ok(self.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt")?.code == 200)
    }

    /// Gives up the fields that we have set on objects that existed before; the objects stay.
    pub fn give_back(&self, all: &[Live], dry_run: bool) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut problems = Vec::new();
        for it in all {
            if !self.owner.has_adopted(&it.object) {
                continue;
            }
            let params = PatchParams { dry_run, ..PatchParams::apply(&self.owner.adopter) };
            let nothing = Patch::Apply(owner::nothing_of(&it.object));
            let (requests, name) = it.resource.one(&it.id)?;
            let answer = self.send(&requests.patch(&name, &params, &nothing)?)?;
            // An object that is gone has no fields of ours.
            let is_gone = answer.code == 409 && !self.is_there(it)?;
            if !answer.is_success() && !is_gone {
                problems.push((it.id.to_string(), refusal::of(&answer)));
            }
        }
        Ok(problems)
    }

    /// Whether this very object exists.
    fn is_there(&self, live: &Live) -> anyhow::Result<bool> {
        let found = self.one(&live.resource, &live.id)?;
        Ok(!found.is_ok_and(|it| it.is_none_or(|it| uid(&it) != uid(&live.object))))
    }

    /// Deletes only the object whose owner was determined: by its uid, in the version that was read. If others have written
    /// to it since (controllers often update the status), its owner is determined again.
    fn delete_one(&self, live: &Live, dry_run: bool) -> anyhow::Result<Result<(), Refusal>> {
        // A workload is gone only when its pods are: they need objects that are deleted after it.
        let params = match live.id.is_workload() {
            true => DeleteParams::foreground(),
            false => DeleteParams::background(),
        };
        self.delete_after(live, dry_run, &params)
    }

    fn delete_after(
        &self,
        live: &Live,
        dry_run: bool,
        params: &DeleteParams,
    ) -> anyhow::Result<Result<(), Refusal>> {
        let (requests, name) = live.resource.one(&live.id)?;
        let mut judged = version(&live.object).to_owned();
        for _ in 0..20 {
            let this = Preconditions {
                uid: Some(uid(&live.object).to_owned()),
                resource_version: Some(judged.clone()),
            };
            let params = DeleteParams { dry_run, ..params.clone() }.preconditions(this);
            let answer = self.send(&requests.delete(&name, &params)?)?;
            match answer.code {
                404 => return Ok(Ok(())),
                409 => {}
                _ if answer.is_success() => return Ok(Ok(())),
                _ => return Ok(Err(refusal::of(&answer))),
            }
            let now = match self.one(&live.resource, &live.id)? {
                Err(refusal) => return Ok(Err(refusal)),
                Ok(None) => return Ok(Ok(())),
                Ok(Some(now)) => now,
            };
            if uid(&now) != uid(&live.object) || !live.removal.is_still(&self.owner.judge(&now)) {
                let message = "another program has just recreated it or changed its owner";
                return Ok(Err(Refusal::new(message, Some("run the command again"))));
            }
            if version(&now) == judged {
                return Ok(Err(refusal::of(&answer)));
            }
            version(&now).clone_into(&mut judged);
        }
        let message = "it changes too often to determine its owner";
        Ok(Err(Refusal::new(
            message,
            Some("stop the program that writes to it, then run the command again"),
        )))
    }

    /// Why a deleted object still exists; none when it is gone.
    fn held_up(&self, live: &Live) -> anyhow::Result<Option<String>> {
        let unread = |it: Refusal| it.into_error(&format!("{} cannot be read", live.id));
        // A recreated object is another object.
        let found = self.one(&live.resource, &live.id)?.map_err(unread)?;
        let Some(object) = found.filter(|it| uid(it) == uid(&live.object)) else {
            return Ok(None);
        };
        let held = if live.id.is_crd() { self.held(&object)? } else { Ok(Vec::new()) };
        Ok(Some(format!("{} {}", live.id, reason(&object, &held.unwrap_or_default()))))
    }
}

/// Why an object that is being deleted still exists.
fn reason(object: &Value, held: &[Held]) -> String {
    if !held.is_empty() {
        let stuck: Vec<String> = held
            .iter()
            .filter(|it| it.going && !it.finalizers.is_empty())
            .map(|it| format!("{} ({})", it.id, of_programs(&it.finalizers).join(", ")))
            .collect();
        return match stuck.len() {
            0 => format!("still has {}", count(held.len(), "object")),
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
    let messages = conditions.iter().filter_map(|it| condition(object, it));
    let messages: Vec<&str> = messages.filter(|it| it.0 == "True").map(|it| it.1).collect();
    let mut finalizers = texts(&object["metadata"]["finalizers"]);
    // The server removes its own finalizer.
    finalizers.retain(|it| *it != "customresourcecleanup.apiextensions.k8s.io");
    if !messages.is_empty() {
        format!("still exists: {}", messages.join("; "))
    } else if finalizers == ["foregroundDeletion"] {
        "waits until what it owns is gone".to_owned()
    } else if is_going(object) && !finalizers.is_empty() {
        format!("waits for its finalizers: {}", of_programs(&finalizers).join(", "))
    } else {
        "still exists".to_owned()
    }
}

/// The finalizers without that of the garbage collector, which waits as well, if there are others.
fn of_programs<T: AsRef<str>>(all: &[T]) -> Vec<&str> {
    let all = all.iter().map(AsRef::as_ref);
    let others: Vec<&str> = all.clone().filter(|it| *it != "foregroundDeletion").collect();
    if others.is_empty() { all.collect() } else { others }
}

#[test]
fn what_delays_a_deletion_is_named() {
    use go_data::yaml::json;
    let going = |more: Value| {
        let mut res = json!({"metadata": {"deletionTimestamp": "now"}});
        for (key, value) in more.as_object().unwrap() {
            res[key] = value.clone();
        }
        res
    };
    assert_eq!(reason(&going(json!({})), &[]), "still exists");
    let finalized = json!({"metadata": {"deletionTimestamp": "now", "finalizers": ["a", "b"]}});
    assert_eq!(reason(&finalized, &[]), "waits for its finalizers: a, b");
    let foreground =
        json!({"metadata": {"deletionTimestamp": "now", "finalizers": ["foregroundDeletion"]}});
    assert_eq!(reason(&foreground, &[]), "waits until what it owns is gone");
    let remaining = json!([
        {"type": "NamespaceContentRemaining", "status": "True", "message": "pods. has 1 resource instances"},
        {"type": "NamespaceFinalizersRemaining", "status": "False", "message": "none"},
    ]);
    assert_eq!(
        reason(&going(json!({"status": {"conditions": remaining}})), &[]),
        "still exists: pods. has 1 resource instances"
    );
    let held = |name: &str, finalizers: &[&str]| Held {
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
    assert_eq!(reason(&going(json!({})), &[held("a", &[])]), "still has 1 object");
    assert_eq!(
        reason(&going(json!({})), &[held("a", &[]), held("b", &["f/g"])]),
        "waits for finalizers of A x/b (f/g)"
    );
    // The garbage collector waits as well.
    assert_eq!(
        reason(&going(json!({})), &[held("b", &["f/g", "foregroundDeletion"])]),
        "waits for finalizers of A x/b (f/g)"
    );
    let both = json!({"metadata": {"deletionTimestamp": "now", "finalizers": ["a", "foregroundDeletion"]}});
    assert_eq!(reason(&both, &[]), "waits for its finalizers: a");
}
