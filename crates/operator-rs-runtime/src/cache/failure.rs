//! Conditions by which the runtime reports that an object fails or is paused. A field manager of its own applies them, so that
//! it neither takes over nor erases what the operator wrote.

use super::{
    Observed, PrimaryCache, Watchable,
    conditions::{DEGRADED, PAUSED, RUNTIME_CONDITIONS, failure_manager},
    key_of, lock, ownership,
};
use crate::{conditions, error::Error, scope::ResourceScope};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{sync::atomic::Ordering, time::Duration};
use tokio::time::Instant;

/// After this time, the runtime tries again to write conditions of a kind that had none.
const REFUSAL_RETRY: Duration = Duration::from_secs(60);

/// Whether something was reported on the object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// Now, and it is another than before.
    New,
    /// Before.
    Known,
    /// Not: the kind has no conditions, they can be written only all together, or the write failed.
    NotReported,
    /// Not: the object is not there any more.
    Gone,
}

impl<K: Watchable> PrimaryCache<K> {
    /// Reports failures by events and in the log only.
    pub(crate) fn disable_conditions(&self) {
        self.has_conditions.store(false, Ordering::Relaxed);
    }

    /// Whether failures are reported in a condition.
    pub(crate) fn reports_conditions(&self) -> bool {
        self.has_conditions.load(Ordering::Relaxed)
    }

    /// Whether the kind had no conditions a short while ago. Its CRD may gain them.
    fn was_refused(&self) -> bool {
        lock(&self.refused).is_some_and(|at| at.elapsed() < REFUSAL_RETRY)
    }

    /// Sets `Degraded`, unless it says so already.
    pub(crate) async fn report_failure(&self, object: &K, reason: &str, message: &str) -> Result<Report, Error>
    where
        K: Serialize,
    {
        self.report_condition(object, DEGRADED, (reason, message)).await
    }

    /// Sets a condition to true, unless it says so already, or says why another controller has set it.
    pub(crate) async fn report_condition(&self, object: &K, type_: &'static str, explanation: (&str, &str)) -> Result<Report, Error>
    where
        K: Serialize,
    {
        let (key, uid) = (key_of(object), object.meta().uid.as_deref());
        let ours = (explanation.0.to_owned(), explanation.1.to_owned());
        match self.claimant.hold_claim(&key, uid, type_, ours.clone()) {
            Some(first) if first == ours => Ok(Report::Known),
            Some(_) => Ok(Report::NotReported),
            None => self.apply_condition(object, type_, explanation).await,
        }
    }

    async fn apply_condition(&self, object: &K, type_: &'static str, explanation: (&str, &str)) -> Result<Report, Error>
    where
        K: Serialize,
    {
        let Some(latest) = self.get_current(object) else { return Ok(Report::Gone) };
        let (are_atomic, reported) = match lock(&self.state).conditions.get(&key_of(object)) {
            Some(it) => (it.are_atomic, it.reported.clone()),
            None => (false, vec![]),
        };
        if are_atomic || !self.reports_conditions() || self.was_refused() {
            return Ok(Report::NotReported);
        }
        let known = serde_json::to_value(&*latest)?["status"]["conditions"].take();
        let mut all: Vec<Condition> = serde_json::from_value(known).unwrap_or_default();
        // Other reported conditions would be removed if they were not applied again.
        all.retain(|it| it.type_ == type_ || reported.iter().any(|reported| it.type_ == *reported));
        let before = conditions::find(&all, type_).cloned();
        let (reason, message) = explanation;
        conditions::set(&mut all, latest.meta().generation, conditions::new(type_, true, reason, message));
        if conditions::find(&all, type_) == before.as_ref() {
            return Ok(Report::Known);
        }
        match self.patch_status(&latest, &failure_manager(self.field_manager), json!({ "conditions": all })).await {
            Ok(after) if ownership::has_atomic_conditions(&after.managed, None) => {
                // There was none yet. Whoever sets the next would erase this one, or keep it for ever.
                self.disable_conditions();
                self.remove_condition(&after.object_key(), type_).await?;
                Ok(Report::NotReported)
            }
            Ok(_) if before.is_some_and(|it| it.status == "True" && it.reason == reason) => Ok(Report::Known),
            Ok(_) => Ok(Report::New),
            Err(error) if lacks_conditions(&error) => {
                *lock(&self.refused) = Some(Instant::now());
                Ok(Report::NotReported)
            }
            Err(_) if self.get_current(object).is_none() => Ok(Report::Gone),
            Err(error) => Err(error),
        }
    }

    /// Whether a status that `manager` was to write is not for the object as it is now: a report that would erase
    /// conditions of others, or says of an object that it is paused, which it is not any more.
    pub(super) fn is_outdated(&self, field_manager: &str, status: &Value, found: &Observed<K>) -> bool {
        let mut all = status["conditions"].as_array().into_iter().flatten();
        let is_paused = || found.decode().is_ok_and(|it| self.paused_by(&it).is_some());
        field_manager != self.field_manager
            && (ownership::has_atomic_conditions(&found.managed, None)
                || all.any(|it| it["type"] == PAUSED) && !is_paused())
    }

    /// Takes back what `report_failure` has set. The reconcile that is triggered can set the
    /// condition itself.
    pub(crate) async fn clear_failure(&self, object: &K) -> Result<(), Error>
    where
        K: Serialize,
    {
        if self.clear_condition(object, DEGRADED).await? {
            (self.trigger)(&key_of(object));
        }
        Ok(())
    }

    /// Removes a condition that the runtime has reported, unless another controller has a reason for it. Returns
    /// whether it is gone now.
    pub(crate) async fn clear_condition(&self, object: &K, type_: &'static str) -> Result<bool, Error>
    where
        K: Serialize,
    {
        let key = key_of(object);
        if let Some((reason, message)) = self.claimant.release_claim(&key, type_) {
            return self.apply_condition(object, type_, (&reason, &message)).await.map(|_| false);
        }
        let is_reported = self.has_reported(&key, type_);
        if is_reported {
            self.remove_condition(&key, type_).await?;
        }
        Ok(is_reported)
    }

    /// An object is gone: nothing is reported on it any more.
    pub(crate) fn release_claims(&self, key: &str) {
        RUNTIME_CONDITIONS.iter().for_each(|it| drop(self.claimant.release_claim(key, it)));
    }

    /// Whether the runtime has reported a condition of an object.
    pub(super) fn has_reported(&self, key: &str, type_: &str) -> bool {
        lock(&self.state).conditions.get(key).is_some_and(|it| it.reported.contains(&type_))
    }

    /// Removes the condition as a whole. To apply nothing would leave what the operator's manager owns of it too,
    /// such as its `type`: half a condition, which the API server refuses.
    async fn remove_condition(&self, key: &str, type_: &str) -> Result<(), Error>
    where
        K: Serialize,
    {
        let Some(latest) = self.get(key) else { return Ok(()) };
        let object = serde_json::to_value(&*latest)?;
        let all = object["status"]["conditions"].as_array();
        let Some(at) = all.into_iter().flatten().position(|it| it["type"] == type_) else { return Ok(()) };
        let path = format!("/status/conditions/{at}");
        let patch = json!([
            { "op": "test", "path": "/metadata/uid", "value": latest.meta().uid },
            { "op": "test", "path": format!("{path}/type"), "value": type_ },
            { "op": "remove", "path": path },
        ]);
        let api: Api<Observed<K>> = K::Scope::api(&self.client, latest.namespace().as_deref());
        let params = PatchParams { field_manager: Some(failure_manager(self.field_manager)), ..PatchParams::default() };
        let patch = Patch::Json::<()>(serde_json::from_value(patch)?);
        let after = match api.patch_status(&latest.name_any(), &params, &patch).await {
            Err(kube::Error::Api(it)) if matches!(it.code, 404 | 422) && self.fetch_current(&latest).await?.is_none() => {
                return Ok(());
            }
            result => result?,
        };
        Ok(self.record_write(&after, &json!({ "status": { "conditions": [{ "type": type_ }] } }))?)
    }
}

/// Whether the kind has no status, or no conditions in it.
fn lacks_conditions(error: &Error) -> bool {
    match error {
        Error::NoStatus { .. } => true,
        Error::Kube(kube::Error::Api(it)) => it.message.contains("field not declared in schema"),
        _ => false,
    }
}
