//! Objects off a server: tried first, then deleted, then waited for until they are gone.

use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};

use super::{
    Became, Cluster, Held, Id, Removal, Told, Verb,
    discovery::Resource,
    object::{condition, count, is_going, texts, uid, version},
    owner,
    refusal::{self, Refusal},
    wait::{Limit, State},
};
use crate::{hint::Hint as _, yaml::Value};

/// An object as it is on the server.
#[derive(Clone, Debug)]
pub struct Live {
    pub id: Id,
    pub(super) resource: Resource,
    pub object: Value,
    pub removal: Removal,
}

impl Cluster {
    /// Those of the objects that are there, in whatever version, and what each is to the owner.
    pub fn find(&self, ids: &[Id]) -> anyhow::Result<Vec<Live>> {
        let mut res = Vec::new();
        let mut problems = Vec::new();
        for id in ids {
            // What the server has no kind of is not there.
            let Some(resource) = self.resource_in_any_version(id)? else { continue };
            match self.one(&resource, id)? {
                Ok(None) => {}
                Ok(Some(object)) => {
                    let removal = self.owner.judge(&object);
                    res.push(Live { id: id.clone(), resource, object, removal });
                }
                Err(refusal) => problems.push((id.to_string(), refusal)),
            }
        }
        match problems[..] {
            [] => Ok(res),
            _ => Err(refusal::all("nothing was changed", &problems)),
        }
    }

    /// Asks whether these may be deleted; why not, for those that may not.
    pub fn try_delete(&self, all: &[Live]) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut problems = Vec::new();
        for it in all {
            if let Err(refusal) = self.delete_one(it, true)? {
                problems.push((it.id.to_string(), refusal));
            }
        }
        Ok(problems)
    }

    /// Deletes in their order, and waits until all are gone.
    pub fn delete(
        &self,
        all: &[Live],
        limit: Limit,
        tell: &mut dyn FnMut(Told),
    ) -> anyhow::Result<()> {
        for it in all {
            if let Err(refusal) = self.delete_one(it, false)? {
                return Err(refusal.into_error(&format!("{} cannot be deleted", it.id)));
            }
            tell(Told::Became(Became::new(Verb::Delete, &it.id)));
        }
        let left = self.until(limit, tell, || {
            for it in all {
                if let Some(reason) = self.held_up(it)? {
                    return Ok(State::Not(reason));
                }
            }
            Ok(State::Done)
        })?;
        match left {
            None => Ok(()),
            Some(reason) => Err(anyhow::format_err!("the time is over: {reason}")).hint(
                "a finalizer is taken off by the program that put it there, which must run; where it is gone for good, take it off by hand: `kubectl edit` the object",
            ),
        }
    }

    /// Gives back what we have set of objects that were there before us; they stay.
    pub fn give_back(&self, all: &[Live], dry_run: bool) -> anyhow::Result<Vec<(String, Refusal)>> {
        let mut problems = Vec::new();
        for it in all {
            for manager in self.owner.adopters(&it.object) {
                let params = PatchParams { dry_run, ..PatchParams::apply(manager) };
                let nothing = Patch::Apply(owner::nothing_of(&it.object));
                let (requests, name) = it.resource.one(&it.id)?;
                let answer = self.send(&requests.patch(&name, &params, &nothing)?)?;
                // One that has gone meanwhile has nothing of ours.
                let is_gone = answer.code == 409 && !self.is_there(it)?;
                if !answer.is_success() && !is_gone {
                    problems.push((it.id.to_string(), refusal::of(&answer)));
                }
            }
        }
        Ok(problems)
    }

    /// Whether this very object is there.
    fn is_there(&self, live: &Live) -> anyhow::Result<bool> {
        let found = self.one(&live.resource, &live.id)?;
        Ok(!found.is_ok_and(|it| it.is_none_or(|it| uid(&it) != uid(&live.object))))
    }

    /// Deletes what was judged, and nothing else: this object by its uid, in the version that was looked at. Where others
    /// have written to it since (controllers write statuses all the time) it is judged again.
    fn delete_one(&self, live: &Live, dry_run: bool) -> anyhow::Result<Result<(), Refusal>> {
        // What runs pods goes when they have ended, for they need what goes behind it.
        let params = match live.id.is_workload() {
            true => DeleteParams::foreground(),
            false => DeleteParams::background(),
        };
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
            if uid(&now) != uid(&live.object) || self.owner.judge(&now) != live.removal {
                let message = "others have changed whose it is, or made it anew, just now";
                return Ok(Err(Refusal::new(message, Some("run this again"))));
            }
            if version(&now) == judged {
                return Ok(Err(refusal::of(&answer)));
            }
            version(&now).clone_into(&mut judged);
        }
        let message = "it changes too fast to be judged";
        Ok(Err(Refusal::new(message, Some("stop what writes to it, then run this again"))))
    }

    /// Why an object that was deleted is there still; none when it is gone.
    fn held_up(&self, live: &Live) -> anyhow::Result<Option<String>> {
        let unread = |it: Refusal| it.into_error(&format!("{} cannot be looked at", live.id));
        // One that was made anew is another one.
        let found = self.one(&live.resource, &live.id)?.map_err(unread)?;
        let Some(object) = found.filter(|it| uid(it) == uid(&live.object)) else {
            return Ok(None);
        };
        let held = if live.id.is_crd() { self.held(&object)? } else { Ok(Vec::new()) };
        Ok(Some(format!("{} {}", live.id, reason(&object, &held.unwrap_or_default()))))
    }
}

/// What holds up an object that is on its way out.
fn reason(object: &Value, held: &[Held]) -> String {
    if !held.is_empty() {
        let stuck: Vec<String> = held
            .iter()
            .filter(|it| it.going && !it.finalizers.is_empty())
            .map(|it| format!("{} ({})", it.id, it.finalizers.join(", ")))
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
    let told = conditions.iter().filter_map(|it| condition(object, it));
    let told: Vec<&str> = told.filter(|it| it.0 == "True").map(|it| it.1).collect();
    let mut finalizers = texts(&object["metadata"]["finalizers"]);
    // The server's own, which it takes off in time.
    finalizers.retain(|it| *it != "customresourcecleanup.apiextensions.k8s.io");
    if !told.is_empty() {
        format!("is still there: {}", told.join("; "))
    } else if finalizers == ["foregroundDeletion"] {
        "waits for its pods to end".to_owned()
    } else if is_going(object) && !finalizers.is_empty() {
        format!("waits for its finalizers: {}", finalizers.join(", "))
    } else {
        "is still there".to_owned()
    }
}

#[test]
fn what_holds_an_object_is_named() {
    use crate::yaml::json;
    let going = |more: Value| {
        let mut res = json!({"metadata": {"deletionTimestamp": "now"}});
        for (key, value) in more.as_object().unwrap() {
            res[key] = value.clone();
        }
        res
    };
    assert_eq!(reason(&going(json!({})), &[]), "is still there");
    let finalized = json!({"metadata": {"deletionTimestamp": "now", "finalizers": ["a", "b"]}});
    assert_eq!(reason(&finalized, &[]), "waits for its finalizers: a, b");
    let foreground =
        json!({"metadata": {"deletionTimestamp": "now", "finalizers": ["foregroundDeletion"]}});
    assert_eq!(reason(&foreground, &[]), "waits for its pods to end");
    let remaining = json!([
        {"type": "NamespaceContentRemaining", "status": "True", "message": "pods. has 1 resource instances"},
        {"type": "NamespaceFinalizersRemaining", "status": "False", "message": "none"},
    ]);
    assert_eq!(
        reason(&going(json!({"status": {"conditions": remaining}})), &[]),
        "is still there: pods. has 1 resource instances"
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
}
