//! Objects off a server: tried first, then deleted, then waited for until they are gone.

use super::{
    Answer, Became, Cluster, Content, Held, Id, Told, Verb,
    discovery::Resource,
    object::{condition, count, is_going, texts, uid},
    owned::{self, ADOPTED, Standing},
    refusal::{self, Refusal},
    wait::{Limit, State},
};
use crate::{
    hint::Hint as _,
    yaml::{Value, json},
};

/// An object as it is on the server.
#[derive(Clone, Debug)]
pub struct Live {
    pub id: Id,
    pub(super) resource: Resource,
    pub object: Value,
}

impl Live {
    pub fn standing(&self) -> Standing {
        owned::standing(&self.object)
    }
}

impl Cluster {
    /// Those of the objects that are there.
    pub fn find(&self, ids: &[Id]) -> anyhow::Result<Vec<Live>> {
        let mut res = Vec::new();
        let mut problems = Vec::new();
        for id in ids {
            // What the server has no kind of is not there.
            let Some(resource) = self.resource(id)? else { continue };
            let answer = self.get(&resource.one(id))?;
            match answer.code {
                200 => res.push(Live { id: id.clone(), resource, object: answer.body }),
                404 => {}
                _ => problems.push((id.to_string(), refusal::of(&answer))),
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
            let answer = self.delete_one(it, true)?;
            if !answer.is_success() && answer.code != 404 {
                problems.push((it.id.to_string(), refusal::of(&answer)));
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
            let answer = self.delete_one(it, false)?;
            if !answer.is_success() && answer.code != 404 {
                return Err(
                    refusal::of(&answer).into_error(&format!("{} cannot be deleted", it.id))
                );
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
            let dry_run = if dry_run { "&dryRun=All" } else { "" };
            let path = format!("{}?fieldManager={ADOPTED}{dry_run}", it.resource.one(&it.id));
            let answer =
                self.send("PATCH", &path, &Content::Apply(&owned::nothing_of(&it.object)))?;
            if !answer.is_success() && answer.code != 404 {
                problems.push((it.id.to_string(), refusal::of(&answer)));
            }
        }
        Ok(problems)
    }

    fn delete_one(&self, live: &Live, dry_run: bool) -> anyhow::Result<Answer> {
        // What runs pods goes when they have ended, for they need what goes behind it.
        let policy = if live.id.is_workload() { "Foreground" } else { "Background" };
        let mut options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": policy,
            "preconditions": {"uid": uid(&live.object)},
        });
        if dry_run {
            options["dryRun"] = json!(["All"]);
        }
        self.send("DELETE", &live.resource.one(&live.id), &Content::Json(&options))
    }

    /// Why an object that was deleted is there still; none when it is gone.
    fn held_up(&self, live: &Live) -> anyhow::Result<Option<String>> {
        let answer = self.get(&live.resource.one(&live.id))?;
        match answer.code {
            404 => return Ok(None),
            200 => {}
            _ => {
                return Err(
                    refusal::of(&answer).into_error(&format!("{} cannot be looked at", live.id))
                );
            }
        }
        let object = &answer.body;
        // One that was made anew is another one.
        if uid(object) != uid(&live.object) {
            return Ok(None);
        }
        let held = if live.id.is_crd() { self.held(object)? } else { Vec::new() };
        Ok(Some(format!("{} {}", live.id, reason(object, &held))))
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
        finalizers: finalizers.iter().map(ToString::to_string).collect(),
        going: true,
    };
    assert_eq!(reason(&going(json!({})), &[held("a", &[])]), "still has 1 object");
    assert_eq!(
        reason(&going(json!({})), &[held("a", &[]), held("b", &["f/g"])]),
        "waits for finalizers of A x/b (f/g)"
    );
}
