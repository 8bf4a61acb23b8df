//! Writes dependents by server-side apply. A write is skipped only if it is proven that the server has the desired object,
//! and an object of another owner is never written to.

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

/// The owner and the metadata that an applied object gets.
struct Target<'a> {
    owner: &'a Owner,
    meta: ObjectMeta,
}

/// The preconditions by which a write changes this object and no other.
enum Precondition {
    Absent,
    Uid(String),
}

/// A task that is applying an object, until this is dropped: the watch may show the object before the API server has
/// responded, and it must not be pruned then.
struct Applying<'a> {
    state: &'a Mutex<ChildrenState>,
    key: &'a str,
}

impl<'a> Applying<'a> {
    fn begin(state: &'a Mutex<ChildrenState>, key: &'a str) -> Self {
        *lock(state).applying.entry(key.into()).or_default() += 1;
        Self { state, key }
    }
}

impl Drop for Applying<'_> {
    fn drop(&mut self) {
        let mut state = lock(self.state);
        if let Some(tasks) = state.applying.get_mut(self.key) {
            *tasks -= 1;
            if *tasks == 0 {
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
        let _applying = Applying::begin(&self.state, &key);
        // It is desired even if the write fails.
        let mark = || lock(&self.state).entries.get_mut(&key).into_iter().for_each(|it| it.applied_at = now());
        mark();
        let text = serde_json::to_string(desired)?;
        let fingerprint = fast_hash(&text) ^ fast_hash(owner.uid());
        let result = self.apply_if_changed(&key, &target, &text, fingerprint).await;
        mark();
        result
    }

    async fn apply_if_changed(&self, key: &str, target: &Target<'_>, text: &str, fingerprint: u64) -> Result<C, Error> {
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
        let body = build_body(text, &target.meta)?;
        let Some((version, managed, hash, uid, proven)) = known else {
            return self.apply_body(target, body, fingerprint, Precondition::Absent).await;
        };
        if hash.as_deref() == body["metadata"]["annotations"][ownership::DESIRED_HASH].as_str()
            // A proof of the same object, whose fields came in another order, is as good.
            && (proven.is_some() || ownership::owns_all_fields(&managed, self.field_manager, &body))
            && let Some(entry) = lock(&self.state).entries.get_mut(key).filter(|it| it.version == version)
            && has_secret_values::<C>(&entry.json, &body)
        {
            entry.mark_proven(fingerprint);
            return Ok(serde_json::from_str(&entry.json)?);
        }
        info!(kind = %C::kind(&()), object = %key, "applying an object that differs from the desired one");
        self.apply_body(target, body, fingerprint, uid.map_or(Precondition::Absent, |it| Precondition::Uid(it.into()))).await
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
                    // An existing object has another version, which is a conflict; an absent one is
                    // created (seen with Kubernetes 1.36).
                    Precondition::Absent => metadata.insert("resourceVersion".into(), "1".into()),
                    Precondition::Uid(uid) => metadata.insert("uid".into(), uid.as_str().into()),
                };
            }
            let lists = lock(&self.state).recent.list_count();
            match api.patch(&name, &params, &Patch::Apply(&body)).await {
                Ok(after) => {
                    let (is_certain, res) = (self.record_write(&after, Some(fingerprint), &body, lists), after.decode()?);
                    if !is_certain && let Err(error) = self.verify_exists(&after.object_key()).await {
                        debug!(object = %after.object_key(), %error, "cannot look for an object");
                    }
                    return Ok(res);
                }
                Err(kube::Error::Api(it)) if is_failed_precondition(&it) && !is_checked => is_checked = true,
                Err(kube::Error::Api(it)) if it.is_invalid() => return Err(self.explain_refusal(&api, &name, &body, it).await),
                Err(error) => return Err(error.into()),
            }
            // The watch has not shown it, or not yet: it may lack the labels.
            precondition = match fetch_object(&api, &name).await? {
                Some(found) => {
                    check_owner::<C>(target, &self.build_entry(&found))?;
                    found.metadata.uid.map_or(Precondition::Absent, Precondition::Uid)
                }
                None => Precondition::Absent,
            };
        }
    }

    /// The reason that the server refuses an object, with the fields that others have replaced.
    async fn explain_refusal(&self, api: &Api<Observed<C>>, name: &str, desired: &Value, refusal: Box<Status>) -> Error {
        let found = fetch_object(api, name).await.ok().flatten();
        let found = found.and_then(|it| serde_json::from_str(&it.json).ok()).unwrap_or_default();
        let fields = find_replaced(desired, &found);
        if fields.is_empty() {
            return kube::Error::Api(refusal).into();
        }
        let (kind, fields) = (C::kind(&()).into(), fields.join(" and "));
        Error::Replaced { kind, name: name.into(), fields, refusal: explain(&kube::Error::Api(refusal)) }
    }

    /// Remembers what an own write returned. Where it shows a change by others that the watch has not
    /// shown yet, a reconcile is due. Returns whether the object is certain to be there: it may have been
    /// deleted, and a list that did not show it may have come and gone, while the answer was on its way.
    pub(super) fn record_write(&self, after: &Observed<C>, fingerprint: Option<u64>, body: &Value, lists: u64) -> bool {
        let (key, mut entry) = (after.object_key(), self.build_entry(after));
        fingerprint.into_iter().for_each(|it| entry.mark_proven(it));
        let mut state = lock(&self.state);
        let before = state.entries.get(&key).map(|it| (it.version, it.json.clone(), it.parents.clone()));
        let version = before.as_ref().map(|it| it.0);
        if version == Some(entry.version) && entry.version.is_some() {
            // The watch was first, or there was nothing to change.
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
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        // Another client may have given it another owner. No event would show that.
        if before.is_some_and(|(_, before, old_parents)| {
            old_parents != new_parents || change::has_foreign_changes(&read(&before), &read(&after.json), body)
        }) {
            self.trigger_parents(&key, parents);
        }
        is_certain
    }

    /// Whether the server has an object that an own write has made, and no list has shown.
    pub(crate) async fn verify_exists(&self, key: &str) -> Result<(), Error> {
        let Some(version) = lock(&self.state).entries.get(key).map(|it| it.version) else { return Ok(()) };
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        let api = self.api(Some(namespace).filter(|it| !it.is_empty()));
        if fetch_object(&api, name).await?.is_none() {
            // Not what has been written meanwhile.
            self.record_deletion(key, version);
        }
        Ok(())
    }

    pub(super) fn api(&self, namespace: Option<&str>) -> Api<Observed<C>> {
        C::Scope::api(&self.client, namespace)
    }

    /// The namespace and the name of an object that `owner` would own.
    pub(super) fn resolve_name(&self, owner: &Owner, desired: &ObjectMeta) -> Result<(Option<String>, String), Error> {
        let meta = self.build_metadata(owner, desired)?;
        Ok((meta.namespace, meta.name.unwrap_or_default()))
    }

    /// The metadata that an object gets: it belongs to its owner, and its watch shows it. If that cannot be,
    /// nothing is written.
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
            let found = meta.labels.get_or_insert_default().entry(label.clone()).or_insert_with(|| value.clone());
            if found != value {
                let (kind, label) = (C::kind(&()).into(), format!("{label}={value}"));
                return Err(Error::Unselected { kind, name, label });
            }
        }
        Ok(meta)
    }
}

/// Verifies that an object that exists is ours: it has the desired controller; or it has none, this operator has applied
/// it before, and its annotations name no other owner.
fn check_owner<C: Watchable>(target: &Target<'_>, found: &CacheEntry) -> Result<(), Error> {
    let desired = controller_reference(&target.meta);
    let other_annotated = found.annotated_owner.as_ref().filter(|annotated| ***annotated != target.owner.to_annotations());
    let is_ours = match (&found.controller, desired) {
        (Some([_, _, uid]), Some(OwnerReference { uid: desired, .. })) => **uid == **desired,
        (Some(_), None) => false,
        (None, _) => found.owned_fields.is_some() && other_annotated.is_none(),
    };
    if is_ours {
        return Ok(());
    }
    let (kind, name) = (C::kind(&()).into(), target.meta.name.clone().unwrap_or_default());
    let Some([found_kind, found_name, _]) = &found.controller else {
        let controller =
            other_annotated.map(|owner| format!("{} `{}`", owner.type_, owner.name.trim_start_matches('/')));
        return Err(Error::NotOwned { kind, name, controller });
    };
    let owner = format!("{found_kind} `{found_name}`");
    Err(match desired.is_some_and(|desired| owner == format!("{} `{}`", desired.kind, desired.name)) {
        true => Error::StaleOwner(StaleOwner { kind, name, owner }),
        false => Error::NotOwned { kind, name, controller: Some(owner) },
    })
}

/// Whether a write was refused because the object is not the one that was meant.
fn is_failed_precondition(refused: &Status) -> bool {
    // To change the uid is invalid.
    let is_uid = |it: &kube::core::response::StatusCause| it.field == "metadata.uid";
    refused.code == 409
        || refused.is_invalid() && refused.details.as_ref().is_some_and(|it| it.causes.iter().any(is_uid))
}
