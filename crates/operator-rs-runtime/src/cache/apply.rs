//! The one way in which children are written: server-side apply, skipped only where it is proven
//! that the server has what is desired, and never to an object that belongs to somebody else.

use super::{
    Children, Desired, Link, Observed, Owner, Watched, change, controller,
    desired::{body, has_values},
    entry::{Entry, fast_hash},
    find, key, lock, ownership,
    prune::{self, now},
    replaced::replaced,
};
use crate::{
    error::{Error, Leftover},
    explain,
    scope::Scope,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{
    Api,
    api::{Patch, PatchParams},
    core::Status,
};
use serde_json::Value;
use tracing::{debug, info};

/// The preconditions by which a write changes this object and no other.
enum Precondition {
    Absent,
    Uid(String),
}

impl<C: Watched> Children<C> {
    /// Applies `desired` and returns the resulting object. If the cluster has it already, no request is
    /// sent. Fields that are no longer desired are removed, fields that others have added are kept, and
    /// changes by others to desired fields are undone.
    ///
    /// After it has returned, no reconcile sees an older state of the object.
    ///
    /// The labels that the cache selects by are set, and the namespace of the object that is reconciled where
    /// `desired` names none. An object of a kind that primaries own gets the owner reference of the object that is
    /// reconciled; outside of a reconcile, also in a task that one has spawned, it has to name its owner.
    ///
    /// # Errors
    ///
    /// [`Error::NotOwned`] if an object with this name belongs to somebody else (it is not changed), and
    /// [`Error::Leftover`] if that is an earlier object with the name of its owner;
    /// [`Error::CannotOwn`] if its primary would not own it; [`Error::Unselected`] if the watch would not
    /// show the object; [`Error::Kube`] if the API server refuses it.
    pub async fn apply(&self, desired: &impl Desired<C>) -> Result<C, Error> {
        let owner = prune::owner().filter(|_| self.are_owned() && controller(desired.meta()).is_none());
        self.apply_of(owner.as_deref(), desired).await
    }

    /// Applies an object that `owner` owns, if these objects have owners.
    pub(crate) async fn apply_of(&self, owner: Option<&Owner>, desired: &impl Desired<C>) -> Result<C, Error> {
        let meta = self.metadata(owner, desired.meta())?;
        let key = key(meta.namespace.as_deref(), meta.name.as_deref().unwrap_or_default());
        // It is desired even if the write fails.
        let mark = || lock(&self.state).entries.get_mut(&key).into_iter().for_each(|it| it.applied = now());
        mark();
        let text = serde_json::to_string(desired)?;
        let print = fast_hash(&text) ^ owner.map_or(0, |it| fast_hash(it.uid()));
        let res = self.apply_text(&key, &meta, &text, print).await;
        mark();
        res
    }

    async fn apply_text(&self, key: &str, meta: &ObjectMeta, text: &str, print: u64) -> Result<C, Error> {
        let known = match lock(&self.state).entries.get(key) {
            None => None,
            Some(entry) => {
                self.check_owner(meta, entry)?;
                if entry.proven == Some(print) && !entry.is_deleted {
                    return Ok(serde_json::from_str(&entry.json)?);
                }
                Some((entry.version, entry.managed.clone(), entry.desired_hash(), entry.uid.clone(), entry.proven))
            }
        };
        let body = body(text, meta)?;
        let Some((version, managed, hash, uid, proven)) = known else {
            return self.write(meta, body, print, Precondition::Absent).await;
        };
        if hash.as_deref() == body["metadata"]["annotations"][ownership::DESIRED_HASH].as_str()
            // A proof of the same object, whose fields came in another order, is as good.
            && (proven.is_some() || ownership::owns(&managed, self.manager, &body))
            && let Some(entry) = lock(&self.state).entries.get_mut(key).filter(|it| it.version == version)
            && has_values::<C>(&entry.json, &body)
        {
            entry.prove(print);
            return Ok(serde_json::from_str(&entry.json)?);
        }
        info!(kind = %C::kind(&()), object = %key, "applying an object that differs from the desired one");
        self.write(meta, body, print, uid.map_or(Precondition::Absent, |it| Precondition::Uid(it.into()))).await
    }

    async fn write(
        &self,
        meta: &ObjectMeta,
        mut body: Value,
        print: u64,
        mut precondition: Precondition,
    ) -> Result<C, Error> {
        let (api, name) = (self.api(meta.namespace.as_deref()), meta.name.clone().unwrap_or_default());
        let params = PatchParams::apply(self.manager).force();
        let mut is_checked = false;
        loop {
            if let Some(metadata) = body["metadata"].as_object_mut() {
                metadata.retain(|field, _| field != "uid" && field != "resourceVersion");
                match &precondition {
                    // An existing object has another version, which is a conflict; an absent one is
                    // created (seen with Kubernetes 1.36).
                    Precondition::Absent => metadata.insert("resourceVersion".into(), "1".into()),
                    Precondition::Uid(uid) => metadata.insert("uid".into(), uid.as_str().into()),
                };
            }
            let lists = lock(&self.state).recent.lists();
            match api.patch(&name, &params, &Patch::Apply(&body)).await {
                Ok(after) => {
                    let (is_certain, res) = (self.written(&after, Some(print), &body, lists), after.decode()?);
                    if !is_certain && let Err(error) = self.verify(&after.key()).await {
                        debug!(object = %after.key(), %error, "cannot look for an object");
                    }
                    return Ok(res);
                }
                Err(kube::Error::Api(it)) if is_of_another(&it) && !is_checked => is_checked = true,
                Err(kube::Error::Api(it)) if it.is_invalid() => return Err(self.refusal(&api, &name, &body, it).await),
                Err(error) => return Err(error.into()),
            }
            // The watch has not shown it, or not yet: it may lack the labels.
            precondition = match find(&api, &name).await? {
                Some(found) => {
                    self.check_owner(meta, &self.entry(&found))?;
                    found.metadata.uid.map_or(Precondition::Absent, Precondition::Uid)
                }
                None => Precondition::Absent,
            };
        }
    }

    /// The reason that the server refuses an object, with the fields that others have replaced.
    async fn refusal(&self, api: &Api<Observed<C>>, name: &str, desired: &Value, refusal: Box<Status>) -> Error {
        let found = find(api, name).await.ok().flatten();
        let found = found.and_then(|it| serde_json::from_str(&it.json).ok()).unwrap_or_default();
        let fields = replaced(desired, &found);
        if fields.is_empty() {
            return kube::Error::Api(refusal).into();
        }
        let (kind, fields) = (C::kind(&()).into(), fields.join(" and "));
        Error::Replaced { kind, name: name.into(), fields, refusal: explain(&kube::Error::Api(refusal)) }
    }

    /// Remembers what an own write returned. Where it shows a change by others that the watch has not
    /// shown yet, a reconcile is due. Returns whether the object is certain to be there: it may have been
    /// deleted, and a list that did not show it may have come and gone, while the answer was on its way.
    pub(super) fn written(&self, after: &Observed<C>, print: Option<u64>, body: &Value, lists: u64) -> bool {
        let (key, mut entry) = (after.key(), self.entry(after));
        print.into_iter().for_each(|it| entry.prove(it));
        let mut state = lock(&self.state);
        let before = state.entries.get(&key).map(|it| (it.version, it.json.clone(), it.parents.clone()));
        let version = before.as_ref().map(|it| it.0);
        if version == Some(entry.version) && entry.version.is_some() {
            // The watch was first, or there was nothing to change.
            if let (Some(entry), Some(print)) = (state.entries.get_mut(&key), print) {
                entry.prove(print);
            }
            return true;
        }
        if !state.recent.wrote(&key, entry.version, version) {
            return true;
        }
        let new_parents = entry.parents.clone();
        let parents = state.entries.insert(&key, entry);
        let is_certain = before.is_some() || lists == state.recent.lists();
        drop(state);
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        // Others may have given it to another parent. No event would show that.
        if before.is_some_and(|(_, before, old_parents)| {
            old_parents != new_parents || change::is_news(&read(&before), &read(&after.json), body)
        }) {
            self.trigger(&key, parents);
        }
        is_certain
    }

    /// Whether the server has an object that an own write has made, and no list has shown.
    pub(crate) async fn verify(&self, key: &str) -> Result<(), Error> {
        let Some(version) = lock(&self.state).entries.get(key).map(|it| it.version) else { return Ok(()) };
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        let api = self.api(Some(namespace).filter(|it| !it.is_empty()));
        if find(&api, name).await?.is_none() {
            // Not what has been written meanwhile.
            self.forget(key, version);
        }
        Ok(())
    }

    pub(super) fn api(&self, namespace: Option<&str>) -> Api<Observed<C>> {
        C::Scope::api(&self.client, namespace)
    }

    /// The metadata that an object gets: it belongs to its owner, and its watch shows it. If that cannot be,
    /// nothing is written.
    fn metadata(&self, owner: Option<&Owner>, desired: &ObjectMeta) -> Result<ObjectMeta, Error> {
        let mut meta = desired.clone();
        let name = meta.name.clone().ok_or(Error::Missing("name"))?;
        if let Link::Owner(_, owners) = &self.link {
            owners.own::<C>(&mut meta, owner)?;
        }
        if C::Scope::NAMESPACED && meta.namespace.is_none() {
            return Err(Error::Missing("namespace"));
        }
        for (label, value) in &self.labels {
            let found = meta.labels.get_or_insert_default().entry(label.clone()).or_insert_with(|| value.clone());
            if found != value {
                let (kind, label) = (C::kind(&()).into(), format!("{label}={value}"));
                return Err(Error::Unselected { kind, name, label });
            }
        }
        Ok(meta)
    }

    /// Whether an object is ours: its controller is the one that is desired; or it has none, and this
    /// operator has applied it before.
    fn check_owner(&self, desired: &ObjectMeta, found: &Entry) -> Result<(), Error> {
        let is_ours = match (&found.controller, controller(desired)) {
            (Some([_, _, uid]), Some(OwnerReference { uid: desired, .. })) => **uid == **desired,
            (Some(_), None) => false,
            (None, _) => found.set.is_some(),
        };
        match is_ours {
            true => Ok(()),
            false => {
                let (kind, name) = (C::kind(&()).into(), desired.name.clone().unwrap_or_default());
                let found = found.controller.as_ref().map(|[kind, name, _]| format!("{kind} `{name}`"));
                let owner = found.clone().filter(|it| {
                    controller(desired).is_some_and(|desired| *it == format!("{} `{}`", desired.kind, desired.name))
                });
                Err(match owner {
                    Some(owner) => Error::Leftover(Leftover { kind, name, owner }),
                    None => Error::NotOwned { kind, name, controller: found },
                })
            }
        }
    }
}

/// Whether a write was refused because the object is not the one that was meant.
fn is_of_another(refused: &Status) -> bool {
    // To change the uid is invalid.
    let is_uid = |it: &kube::core::response::StatusCause| it.field == "metadata.uid";
    refused.code == 409
        || refused.is_invalid() && refused.details.as_ref().is_some_and(|it| it.causes.iter().any(is_uid))
}
