//! Conditions by which the runtime reports that an object fails or is paused. The runtime applies them as a separate
//! field manager, so that it neither takes over nor erases conditions that the operator wrote.

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

/// If the API server has refused conditions because the kind has none, the runtime tries again after this time.
const REFUSAL_RETRY: Duration = Duration::from_secs(60);

/// The result of reporting a condition on an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The condition was written, with another status or reason than before.
    New,
    /// The object had the condition already, with the same reason.
    Known,
    /// The condition was not written: the kind has no conditions, or its list of conditions has one owner, or they are
    /// disabled, or another controller reports the condition for another reason.
    NotReported,
    /// The object no longer exists.
    Gone,
}

impl<K: Watchable> PrimaryCache<K> {
    /// Reports failures only by events and in the log.
    pub(crate) fn disable_conditions(&self) {
        self.has_conditions.store(false, Ordering::Relaxed);
    }

    /// Returns whether failures are reported in a condition.
    pub(crate) fn reports_conditions(&self) -> bool {
        self.has_conditions.load(Ordering::Relaxed)
    }

    /// Returns whether the API server has refused conditions of the kind recently. The refusal expires, because a new
    /// version of the CRD may add conditions.
    fn was_refused(&self) -> bool {
        lock(&self.refused).is_some_and(|refused| refused.elapsed() < REFUSAL_RETRY)
    }

    /// Sets the condition `Degraded`, unless the object has it already with this reason and message.
    pub(crate) async fn report_failure(&self, object: &K, reason: &str, message: &str) -> Result<Report, Error>
    where
        K: Serialize,
    {
        self.report_condition(object, DEGRADED, (reason, message)).await
    }

    /// Sets a condition to true, unless the object has it already with this reason and message, or another controller
    /// of this process reports it.
    pub(crate) async fn report_condition(
        &self,
        object: &K,
        type_: &'static str,
        explanation: (&str, &str),
    ) -> Result<Report, Error>
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
            Some(conditions) => (conditions.are_atomic, conditions.reported.clone()),
            None => (false, vec![]),
        };
        if are_atomic || !self.reports_conditions() || self.was_refused() {
            return Ok(Report::NotReported);
        }
        let known = serde_json::to_value(&*latest)?["status"]["conditions"].take();
        let mut all: Vec<Condition> = serde_json::from_value(known).unwrap_or_default();
        // Server-side apply removes the other reported conditions unless they are applied again.
        all.retain(|condition| condition.type_ == type_ || reported.iter().any(|type_| condition.type_ == *type_));
        let before = conditions::find(&all, type_).cloned();
        let (reason, message) = explanation;
        conditions::set(&mut all, latest.meta().generation, conditions::new(type_, true, reason, message));
        if conditions::find(&all, type_) == before.as_ref() {
            return Ok(Report::Known);
        }
        match self.patch_status(&latest, &failure_manager(self.field_manager), json!({ "conditions": all })).await {
            Ok(after) if ownership::has_atomic_conditions(&after.managed, None) => {
                // This was the first condition, and it has shown that the list has one owner. The next client that sets
                // a condition would erase this one, or keep it for ever.
                self.disable_conditions();
                self.remove_condition(&after.object_key(), type_).await?;
                Ok(Report::NotReported)
            }
            Ok(_) if before.is_some_and(|before| before.status == "True" && before.reason == reason) => {
                Ok(Report::Known)
            }
            Ok(_) => Ok(Report::New),
            Err(error) if lacks_conditions(&error) => {
                *lock(&self.refused) = Some(Instant::now());
                Ok(Report::NotReported)
            }
            Err(_) if self.get_current(object).is_none() => Ok(Report::Gone),
            Err(error) => Err(error),
        }
    }

    /// Returns whether a status of `field_manager` no longer fits the latest state of the object: a report that would
    /// erase the conditions of other clients, or a condition `Paused` for an object that is no longer paused.
    pub(super) fn is_outdated(&self, field_manager: &str, status: &Value, latest: &Observed<K>) -> bool {
        let mut conditions = status["conditions"].as_array().into_iter().flatten();
        let is_paused = || latest.decode().is_ok_and(|object| self.paused_by(&object).is_some());
        field_manager != self.field_manager
            && (ownership::has_atomic_conditions(&latest.managed, None)
                || conditions.any(|condition| condition["type"] == PAUSED) && !is_paused())
    }

    /// Removes the condition that `report_failure` has set. It then triggers a reconcile, so that the operator can set
    /// the condition itself.
    pub(crate) async fn clear_failure(&self, object: &K) -> Result<(), Error>
    where
        K: Serialize,
    {
        if self.clear_condition(object, DEGRADED).await? {
            (self.trigger)(&key_of(object));
        }
        Ok(())
    }

    /// Removes a condition that the runtime has reported, unless another controller of this process still reports it.
    /// Returns whether it was removed.
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

    /// Releases the claims of this controller to the conditions of an object that no longer exists.
    pub(crate) fn release_claims(&self, key: &str) {
        RUNTIME_CONDITIONS.iter().for_each(|type_| drop(self.claimant.release_claim(key, type_)));
    }

    /// Returns whether the runtime has reported a condition of an object.
    pub(super) fn has_reported(&self, key: &str, type_: &str) -> bool {
        lock(&self.state).conditions.get(key).is_some_and(|conditions| conditions.reported.contains(&type_))
    }

    /// Removes a condition as a whole by a JSON patch. If the runtime applied a status without the condition, the
    /// fields that the operator's field manager also owns would stay, such as `type`, and the API server refuses a
    /// condition with only some of its fields.
    async fn remove_condition(&self, key: &str, type_: &str) -> Result<(), Error>
    where
        K: Serialize,
    {
        let Some(latest) = self.get(key) else { return Ok(()) };
        let object = serde_json::to_value(&*latest)?;
        let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
        let Some(index) = conditions.position(|condition| condition["type"] == type_) else { return Ok(()) };
        let path = format!("/status/conditions/{index}");
        let patch = json!([
            { "op": "test", "path": "/metadata/uid", "value": latest.meta().uid },
            { "op": "test", "path": format!("{path}/type"), "value": type_ },
            { "op": "remove", "path": path },
        ]);
        let api: Api<Observed<K>> = K::Scope::api(&self.client, latest.namespace().as_deref());
        let params = PatchParams { field_manager: Some(failure_manager(self.field_manager)), ..PatchParams::default() };
        let patch = Patch::Json::<()>(serde_json::from_value(patch)?);
        let after = match api.patch_status(&latest.name_any(), &params, &patch).await {
            Err(kube::Error::Api(status))
                if matches!(status.code, 404 | 422) && self.fetch_current(&latest).await?.is_none() =>
            {
                return Ok(());
            }
            result => result?,
        };
        Ok(self.record_write(&after, &json!({ "status": { "conditions": [{ "type": type_ }] } }))?)
    }
}

/// Returns whether a write failed because the kind has no status, or no conditions in its status.
fn lacks_conditions(error: &Error) -> bool {
    match error {
        Error::NoStatus { .. } => true,
        Error::Kube(kube::Error::Api(status)) => status.message.contains("field not declared in schema"),
        _ => false,
    }
}
