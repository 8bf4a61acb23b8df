//! Writes dependents by server-side apply. A write is skipped only if it is proven that the server has the desired
//! object. An object of another owner is never changed.

use super::{
    Children, Desired, Link, Observed, Owner, Watchable, change,
    children::ChildrenState,
    controller_reference,
    desired::{build_body, has_secret_values},
    entry::{CacheEntry, fast_hash},
    fetch_object, lock, object_key, ownership,
    prune::now,
    replaced::find_replaced,
};
use crate::{
    error::{Error, StaleOwner},
    explain,
    hash::DESIRED_HASH,
    scope::ResourceScope,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{
    Api,
    api::{Patch, PatchParams},
    core::Status,
};
use serde_json::Value;
use std::sync::Mutex;
use tracing::{debug, info};

/// The owner and the metadata of an object that is applied.
struct Target<'a> {
    owner: &'a Owner,
    meta: ObjectMeta,
}

/// The precondition of a write, so that it changes no other object with the same name.
enum Precondition {
    Absent,
    Uid(String),
}

/// Marks an object as being applied by a task, until this guard is dropped. The watch may show the object before the
/// API server has responded, and it must not be pruned in between.
struct Applying<'a> {
    state: &'a Mutex<ChildrenState>,
    key: &'a str,
    owner: &'a Owner,
}

impl<'a> Applying<'a> {
    fn begin(state: &'a Mutex<ChildrenState>, key: &'a str, owner: &'a Owner) -> Self {
        lock(state).applying.entry(key.into()).or_default().push(owner.uid().into());
        Self { state, key, owner }
    }
}

impl Drop for Applying<'_> {
    fn drop(&mut self) {
        let mut state = lock(self.state);
        if let Some(owners) = state.applying.get_mut(self.key) {
            if let Some(nth) = owners.iter().position(|uid| **uid == *self.owner.uid()) {
                owners.swap_remove(nth);
            }
            if owners.is_empty() {
                state.applying.remove(self.key);
            }
        }
    }
}

impl<C: Watchable> Children<C> {
    /// Applies an object that `owner` owns: see [`Owned::apply`](crate::Owned::apply).
    pub(crate) async fn apply_owned(&self, owner: &Owner, desired: &impl Desired<C>) -> Result<C, Error> {
        let target = Target { owner, meta: self.build_metadata(owner, desired.meta())? };
        let (namespace, name) = (target.meta.namespace.as_deref(), target.meta.name.as_deref());
        let key = object_key(namespace, name.unwrap_or_default());
        let _applying = Applying::begin(&self.state, &key, owner);
        // The object is desired even if the write fails, so it is marked before the write, too. One that belongs to
        // another owner is not: that one may not want it any more.
        let mark_applied = || {
            let mut state = lock(&self.state);
            let entry = state.entries.get_mut(&key);
            if let Some(entry) = entry.filter(|entry| check_owner::<C>(&target, entry).is_ok()) {
                entry.applied_at = now();
            }
        };
        mark_applied();
        let json = serde_json::to_string(desired)?;
        let fingerprint = fast_hash(&json) ^ fast_hash(owner.uid());
        let result = self.apply_if_changed(&key, &target, &json, fingerprint).await;
        mark_applied();
        result
    }

    async fn apply_if_changed(&self, key: &str, target: &Target<'_>, json: &str, fingerprint: u64) -> Result<C, Error> {
        let known = match lock(&self.state).entries.get(key) {
            None => None,
            Some(entry) => {
                check_owner::<C>(target, entry)?;
                if entry.proven == Some(fingerprint) && !entry.is_deleted {
                    return Ok(serde_json::from_str(&entry.json)?);
                }
                Some((entry.version, entry.managed.clone(), entry.desired_hash(), entry.uid.clone(), entry.proven))
            }
        };
        let body = build_body(json, &target.meta)?;
        let Some((version, managed, hash, uid, proven)) = known else {
            return self.apply_body(target, body, fingerprint, Precondition::Absent).await;
        };
        if hash.as_deref() == body["metadata"]["annotations"][DESIRED_HASH].as_str()
            // If the hashes are equal, `proven` is a proof for the same object with its fields in another order.
            && (proven.is_some() || ownership::owns_all_fields(&managed, self.field_manager, &body))
            && let Some(entry) = lock(&self.state).entries.get_mut(key).filter(|entry| entry.version == version)
            && has_secret_values::<C>(&entry.json, &body)
        {
            entry.mark_proven(fingerprint);
            return Ok(serde_json::from_str(&entry.json)?);
        }
        info!(kind = %C::kind(&()), object = %key, "applying an object that differs from the desired one");
        let precondition = uid.map_or(Precondition::Absent, |uid| Precondition::Uid(uid.into()));
        self.apply_body(target, body, fingerprint, precondition).await
    }

    async fn apply_body(
        &self,
        target: &Target<'_>,
        mut body: Value,
        fingerprint: u64,
        mut precondition: Precondition,
    ) -> Result<C, Error> {
        let meta = &target.meta;
        let (api, name) = (self.api(meta.namespace.as_deref()), meta.name.clone().unwrap_or_default());
        let params = PatchParams::apply(self.field_manager).force();
        let mut is_checked = false;
        loop {
            if let Some(metadata) = body["metadata"].as_object_mut() {
                metadata.retain(|field, _| field != "uid" && field != "resourceVersion");
                match &precondition {
                    // An existing object has another version, so that the request is a conflict. An absent object is
                    // created (seen with Kubernetes 1.36).
                    Precondition::Absent => metadata.insert("resourceVersion".into(), "1".into()),
                    Precondition::Uid(uid) => metadata.insert("uid".into(), uid.as_str().into()),
                };
            }
            let lists = lock(&self.state).recent.list_count();
            match api.patch(&name, &params, &Patch::Apply(&body)).await {
                Ok(after) => {
                    let is_certain = self.record_write(&after, Some(fingerprint), &body, lists);
                    let object = after.decode()?;
                    if !is_certain && let Err(error) = self.verify_exists(&after.object_key()).await {
                        debug!(object = %after.object_key(), %error, "cannot look for an object");
                    }
                    return Ok(object);
                }
                Err(kube::Error::Api(status)) if is_failed_precondition(&status) && !is_checked => is_checked = true,
                Err(kube::Error::Api(status)) if status.is_invalid() => {
                    return Err(self.explain_refusal(&api, &name, &body, status).await);
                }
                Err(error) => return Err(error.into()),
            }
            // The watch has not shown the current object yet, or does not select it because it lacks the labels.
            precondition = match fetch_object(&api, &name).await? {
                Some(current) => {
                    check_owner::<C>(target, &self.build_entry(&current))?;
                    current.metadata.uid.map_or(Precondition::Absent, Precondition::Uid)
                }
                None => Precondition::Absent,
            };
        }
    }

    /// Returns the error for an object that the API server refuses. It names the fields that another client has
    /// replaced, if there are any.
    async fn explain_refusal(
        &self,
        api: &Api<Observed<C>>,
        name: &str,
        desired: &Value,
        refusal: Box<Status>,
    ) -> Error {
        let current = fetch_object(api, name).await.ok().flatten();
        let current = current.and_then(|current| serde_json::from_str(&current.json).ok()).unwrap_or_default();
        let fields = find_replaced(desired, &current);
        if fields.is_empty() {
            return kube::Error::Api(refusal).into();
        }
        let (kind, fields) = (C::kind(&()).into(), fields.join(" and "));
        Error::Replaced { kind, name: name.into(), fields, refusal: explain(&kube::Error::Api(refusal)) }
    }

    /// Stores the object that the API server returned for an own write. If it shows a change by another client that the
    /// watch has not shown yet, this triggers a reconcile of its parents.
    ///
    /// Returns whether the object is certain to exist. It may have been deleted, and a list without it may have ended,
    /// while the response was on its way. `lists` is the number of lists that had ended when the request was sent.
    pub(super) fn record_write(&self, after: &Observed<C>, fingerprint: Option<u64>, body: &Value, lists: u64) -> bool {
        let (key, mut entry) = (after.object_key(), self.build_entry(after));
        if let Some(fingerprint) = fingerprint {
            entry.mark_proven(fingerprint);
        }
        let mut state = lock(&self.state);
        let before = state.entries.get(&key).map(|entry| (entry.version, entry.json.clone(), entry.parents.clone()));
        let version = before.as_ref().map(|(version, ..)| *version);
        if version == Some(entry.version) && entry.version.is_some() {
            // The watch has shown the object before the response, or the write has changed nothing.
            if let (Some(entry), Some(fingerprint)) = (state.entries.get_mut(&key), fingerprint) {
                entry.mark_proven(fingerprint);
            }
            return true;
        }
        if !state.recent.record_write(&key, entry.version, version) {
            return true;
        }
        let new_parents = entry.parents.clone();
        let parents = state.entries.insert(&key, entry);
        let is_certain = before.is_some() || lists == state.recent.list_count();
        drop(state);
        let parse = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
        // Another client may have changed the owner of the object. The event of that change will be older than the
        // response.
        if before.is_some_and(|(_, before, old_parents)| {
            old_parents != new_parents || change::has_foreign_changes(&parse(&before), &parse(&after.json), body)
        }) {
            self.trigger_parents(&key, parents);
        }
        is_certain
    }

    /// Checks that an object of an own write exists on the server, although a list did not show it. If it does not,
    /// removes it from the cache.
    pub(crate) async fn verify_exists(&self, key: &str) -> Result<(), Error> {
        let Some(version) = lock(&self.state).entries.get(key).map(|entry| entry.version) else { return Ok(()) };
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        let api = self.api(Some(namespace).filter(|name| !name.is_empty()));
        if fetch_object(&api, name).await?.is_none() {
            // Because of the version, an object that has been written in the meantime stays in the cache.
            self.record_deletion(key, version);
        }
        Ok(())
    }

    pub(super) fn api(&self, namespace: Option<&str>) -> Api<Observed<C>> {
        C::Scope::api(&self.client, namespace)
    }

    /// Returns the namespace and the name that a desired object gets if `owner` owns it.
    pub(super) fn resolve_name(&self, owner: &Owner, desired: &ObjectMeta) -> Result<(Option<String>, String), Error> {
        let meta = self.build_metadata(owner, desired)?;
        Ok((meta.namespace, meta.name.unwrap_or_default()))
    }

    /// Returns the metadata of a desired object, with the owner and the labels that the watch selects by. Fails if
    /// `owner` cannot own the object, or if the watch would not select it.
    fn build_metadata(&self, owner: &Owner, desired: &ObjectMeta) -> Result<ObjectMeta, Error> {
        let mut meta = desired.clone();
        let name = meta.name.clone().ok_or(Error::MissingField("name"))?;
        match &self.link {
            Link::Owner(_, owners) => owners.set_controller::<C>(&mut meta, owner)?,
            Link::Annotation(_, watched) => owner.annotate_dependent::<C>(&mut meta, watched.as_deref())?,
            Link::Mapper(_) | Link::References(_) => {}
        }
        if C::Scope::NAMESPACED && meta.namespace.is_none() {
            return Err(Error::MissingField("namespace"));
        }
        for (label, value) in &self.labels {
            let current = meta.labels.get_or_insert_default().entry(label.clone()).or_insert_with(|| value.clone());
            if current != value {
                let (kind, label) = (C::kind(&()).into(), format!("{label}={value}"));
                return Err(Error::Unselected { kind, name, label });
            }
        }
        Ok(meta)
    }
}

/// Fails unless an existing object belongs to the target's owner: either it has the desired controller; or it has no
/// controller, this operator has applied it before, and its annotations name no other owner.
fn check_owner<C: Watchable>(target: &Target<'_>, current: &CacheEntry) -> Result<(), Error> {
    let desired = controller_reference(&target.meta);
    let other_annotated =
        current.annotated_owner.as_ref().filter(|annotated| ***annotated != target.owner.to_annotations());
    let is_ours = match (&current.controller, desired) {
        (Some([_, _, uid]), Some(OwnerReference { uid: desired, .. })) => **uid == **desired,
        (Some(_), None) => false,
        (None, _) => current.owned_fields.is_some() && other_annotated.is_none(),
    };
    if is_ours {
        return Ok(());
    }
    let (kind, name) = (C::kind(&()).into(), target.meta.name.clone().unwrap_or_default());
    let Some([owner_kind, owner_name, _]) = &current.controller else {
        let controller =
            other_annotated.map(|owner| format!("{} `{}`", owner.type_, owner.name.trim_start_matches('/')));
        return Err(Error::NotOwned { kind, name, controller });
    };
    let owner = format!("{owner_kind} `{owner_name}`");
    Err(match desired.is_some_and(|desired| owner == format!("{} `{}`", desired.kind, desired.name)) {
        true => Error::StaleOwner(StaleOwner { kind, name, owner }),
        false => Error::NotOwned { kind, name, controller: Some(owner) },
    })
}

/// Returns whether a write was refused because its [`Precondition`] does not hold.
fn is_failed_precondition(refusal: &Status) -> bool {
    // A request with another uid than that of the existing object is invalid.
    let is_uid = |cause: &kube::core::response::StatusCause| cause.field == "metadata.uid";
    refusal.code == 409
        || refusal.is_invalid() && refusal.details.as_ref().is_some_and(|details| details.causes.iter().any(is_uid))
}
