//! Runs one reconcile in a task of its own, with a time limit, and reports failures where users look: on the object, as
//! an event, in the log. kube's `Controller` has one error
//! policy for all of that.

use crate::{
    Action, DryRun, Error, Manager, ReconcileError,
    backoff::{Failures, add_jitter},
    cache::{DEGRADED, PAUSED, PrimaryCache, Report, Watchable, key_of, object_ref},
    error::{failures_before_report, is_forbidden, is_not_found_or_conflict, retry_after},
    events::Severity,
    lock,
    metrics::ControllerMetrics,
    panics::panic_message,
};
use futures::future::BoxFuture;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, info, warn};

type Reconcile<K, E> = Arc<dyn Fn(Arc<K>) -> BoxFuture<'static, Result<Action, E>> + Send + Sync>;

/// A reconcile that runs.
type Task<E> = AbortOnDropHandle<Result<Action, E>>;

pub(crate) struct Worker<K: Watchable, E> {
    pub manager: Manager,
    pub metrics: ControllerMetrics,
    pub primary: Arc<PrimaryCache<K>>,
    pub reconcile: Reconcile<K, E>,
    pub failures: Failures,
    /// Conditions that could not be written: an object that has failed often waits no longer for them.
    pub reports: Failures,
    /// The uids of objects that are paused, by their keys.
    pub paused: Mutex<BTreeMap<Box<str>, Option<String>>>,
}

impl<K: Watchable + Serialize, E: ReconcileError> Worker<K, E> {
    /// Reconciles an object, and says when to do it again if nothing happens.
    pub async fn reconcile_key(&self, key: &str) -> Action {
        let Some(obj) = self.primary.get(key) else {
            self.failures.reset(key);
            self.reports.reset(key);
            self.primary.release_claims(key);
            lock(&self.paused).remove(key);
            return Action::await_change();
        };
        let uid = obj.meta().uid.clone();
        let obj = match self.unless_paused(key, obj).await {
            Ok(Some(obj)) => obj,
            Ok(None) => {
                self.reports.reset(key);
                return Action::await_change();
            }
            Err(error) => return Action::requeue(self.retry_report(key, uid.as_deref(), PAUSED, &error)),
        };
        let start = Instant::now();
        let mut late = None;
        let result = self.metrics.observe_reconcile(self.run_in_task(obj.clone(), &mut late)).await;
        self.metrics.queue_done(start.elapsed());
        let action = match result {
            Ok(action) => {
                self.failures.reset(key);
                match self.primary.clear_failure(&obj).await {
                    Ok(()) => {
                        self.reports.reset(key);
                        action
                    }
                    Err(error) => Action::requeue(self.retry_report(key, uid.as_deref(), DEGRADED, &error)),
                }
            }
            // Deleted meanwhile: nothing has failed.
            Err(_) if self.primary.get_current(&obj).is_none() => Action::await_change(),
            // The watch has not shown it yet.
            Err(error)
                if is_not_found_or_conflict(&error) && matches!(self.primary.fetch_current(&obj).await, Ok(None)) =>
            {
                Action::await_change()
            }
            Err(error) => self.report_failure(key, &obj, &error).await,
        };
        // A reconcile that blocks its thread cannot be stopped. Wait, so that no other one of this object runs beside
        // it.
        if let Some(late) = late {
            let _ = late.await;
        }
        action
    }

    /// The object without the condition `Paused`; nothing if it is paused, which it says from now on.
    async fn unless_paused(&self, key: &str, obj: Arc<K>) -> Result<Option<Arc<K>>, Error> {
        let Some(annotation) = self.primary.paused_by(&obj) else {
            if self.primary.clear_condition(&obj, PAUSED).await? | lock(&self.paused).remove(key).is_some() {
                info!(object = %key, "reconciling an object that was paused");
            }
            return Ok(self.primary.get(key));
        };
        let waits = obj.meta().deletion_timestamp.is_some() && obj.meta().finalizers.iter().flatten().next().is_some();
        let waits = if waits { ", and its finalizers wait" } else { "" };
        let message = format!("paused by the annotation `{annotation}`{waits}: remove it to reconcile the object");
        let report = self.primary.report_condition(&obj, PAUSED, (PAUSED, &message)).await?;
        let uid = obj.meta().uid.clone();
        let is_new = lock(&self.paused).insert(key.into(), uid.clone()) != Some(uid);
        if is_new {
            info!(object = %key, annotation, "not reconciling an object that is paused");
        }
        if report == Report::New || report == Report::NotReported && is_new {
            self.manager.publish(Severity::Normal, obj.object_ref(&()), PAUSED, &message).await;
        }
        Ok(None)
    }

    /// Runs the reconcile in a task of its own, so that a panic ends only this reconcile, also a panic before the
    /// future is made. A reconcile that takes too long is aborted at its next `await`, and put into `late`.
    async fn run_in_task(&self, obj: Arc<K>, late: &mut Option<Task<E>>) -> Result<Action, E> {
        let (limit, reconcile) = (self.manager.settings.reconcile_timeout, self.reconcile.clone());
        let running = self.primary.running.begin(obj.meta().uid.as_deref());
        let task = async move {
            let _running = running;
            reconcile(obj).await
        };
        let mut task = AbortOnDropHandle::new(tokio::spawn(task.in_current_span()));
        match timeout(limit, &mut task).await {
            Ok(Ok(result)) => result,
            Ok(Err(join)) => Err(match join.try_into_panic() {
                Ok(panic) => Error::Panic(panic_message(&*panic)).into(),
                Err(join) => Error::Panic(join.to_string()).into(),
            }),
            Err(_) => {
                task.abort();
                *late = Some(task);
                Err(Error::Timeout(limit).into())
            }
        }
    }

    async fn report_failure(&self, key: &str, obj: &Arc<K>, error: &E) -> Action {
        let (reason, message) = (error.reason(), error.to_string());
        let uid = obj.meta().uid.as_deref();
        let failure = self.failures.count(key, uid, reason);
        let mut pause = failure.retry.max(add_jitter(retry_after(error)));
        self.metrics.queue_retry();
        let count = failure.count;
        let patience = failures_before_report(error);
        if count < patience {
            info!(object = %key, error = message, failures = count, retry = ?pause, "retrying a reconcile that failed");
            return Action::requeue(pause);
        }
        let is_new = match self.primary.report_failure(obj, reason, &message).await {
            Ok(Report::Gone) => return Action::await_change(),
            Ok(report) => {
                self.reports.reset(key);
                report == Report::New || report == Report::NotReported && (failure.is_new || count == patience)
            }
            Err(error) => {
                pause = pause.min(self.retry_report(key, uid, DEGRADED, &error));
                failure.is_new
            }
        };
        if is_forbidden(error) {
            self.manager.permissions.log_missing(&self.manager.client).await;
        }
        // Not of an object that is gone: then nothing has failed.
        warn!(object = %key, error = message, failures = count, retry = ?pause, "reconcile failed");
        if is_new {
            self.manager.publish(Severity::Warning, obj.object_ref(&()), reason, &message).await;
        }
        Action::requeue(pause)
    }

    /// A condition cannot be written: when to try again.
    fn retry_report(&self, key: &str, uid: Option<&str>, condition: &str, error: &Error) -> Duration {
        let retry = self.reports.count(key, uid, error.reason()).retry.max(add_jitter(retry_after(error)));
        warn!(object = %key, condition, %error, ?retry, "cannot write a condition");
        retry
    }

    /// Reconciles each object once, and reports on it nowhere else.
    pub async fn dry_run(&self, report: &DryRun) {
        let resource = || format!("{}.{}", K::plural(&()), K::group(&())).trim_end_matches('.').to_owned();
        let mut all = self.primary.store().state();
        all.sort_by_key(|object| key_of(&**object));
        for obj in all {
            let key = key_of(&*obj);
            if let Some(annotation) = self.primary.paused_by(&obj) {
                report.record_paused(resource(), &key, annotation);
                continue;
            }
            match self.run_in_task(obj, &mut None).await {
                Ok(_) => report.record_reconciled(),
                Err(error) => {
                    if is_forbidden(&error) {
                        self.manager.permissions.log_missing(&self.manager.client).await;
                    }
                    report.record_failure(resource(), &key, format!("{}: {error}", error.reason()));
                }
            }
        }
        for key in self.primary.undecodable_keys() {
            report.record_failure(resource(), &key, "Undecodable: the log says why".into());
        }
    }
}

/// The event and the line in the log about an object that cannot be decoded.
pub(crate) async fn report_undecodable<K: Watchable>(
    manager: Manager,
    primary: Arc<PrimaryCache<K>>,
    key: Box<str>,
    uid: Option<String>,
    error: String,
) {
    let object = object_ref::<K>(&key);
    warn!(kind = %K::kind(&()), %object, error, "skipping an object that cannot be decoded");
    let mut about = k8s_openapi::api::core::v1::ObjectReference::from(object);
    about.uid = uid;
    // A standby leaves the event to the leader, until it leads itself.
    manager.elected.cancelled().await;
    if primary.is_undecodable(&key) {
        manager.publish(Severity::Warning, about, "Undecodable", &error).await;
    }
}
