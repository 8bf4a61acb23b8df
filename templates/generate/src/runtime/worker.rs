//! One reconcile at a time: in a task of its own, with a time limit, and with what fails reported
//! where people look: in the status, as an event, in the log.

use super::{
    Action, Env, Error, Failure,
    backoff::Failures,
    cache::{Kind, Primary},
    conditions::{self, Status},
    guard::{Guarded, Undecodable},
};
use futures::{FutureExt, future::BoxFuture};
use kube::{ResourceExt, runtime::reflector::ObjectRef};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};
use tokio::{sync::watch::Receiver, task::JoinError, time::timeout};
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument, info, warn};

type Reconcile<K, E> = Box<dyn Fn(Arc<K>) -> BoxFuture<'static, Result<Action, E>> + Send + Sync>;

pub(super) struct Worker<K: Kind, E> {
    env: Env,
    /// The controller's name in metrics, as controller-runtime would have it.
    name: String,
    primary: Arc<Primary<K>>,
    synced: Vec<Receiver<bool>>,
    reconcile: Reconcile<K, E>,
    failures: Failures<Guarded<K>>,
    /// The last state of an undecodable object that has been reported.
    reported: Mutex<HashMap<ObjectRef<Guarded<K>>, Option<String>>>,
}

impl<K: Kind, E: Failure> Worker<K, E> {
    pub fn new(
        env: Env,
        primary: Arc<Primary<K>>,
        synced: Vec<Receiver<bool>>,
        reconcile: impl Fn(Arc<K>) -> BoxFuture<'static, Result<Action, E>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            env,
            name: K::kind(&()).to_lowercase(),
            primary,
            synced,
            reconcile: Box::new(reconcile),
            failures: Failures::default(),
            reported: Mutex::default(),
        }
    }

    pub async fn work(self: Arc<Self>, obj: Arc<Guarded<K>>) -> Result<Action, E> {
        for synced in &self.synced {
            let _ = synced.clone().wait_for(|ready| *ready).await; // an empty cache is no "nothing there"
        }
        let key = ObjectRef::from_obj(&*obj);
        let obj = match &obj.0 {
            Ok(inner) => inner.clone(),
            Err(bad) => {
                self.report_undecodable(&obj, bad).await;
                return Ok(Action::await_change());
            }
        };
        // In a task of its own, so that a panic ends this reconcile only.
        let task = tokio::spawn((self.reconcile)(obj.clone()).in_current_span());
        let limit = self.env.limit;
        let run = timeout(limit, AbortOnDropHandle::new(task)).map(|done| match done {
            Ok(Ok(result)) => result,
            Ok(Err(join)) => Err(Error::Panic(panic_message(join)).into()),
            Err(_) => Err(Error::Timeout(limit).into()),
        });
        match self.env.metrics.observe(&self.name, run).await {
            Err(_) if self.primary.store.get(&key).is_none() => Ok(Action::await_change()), // deleted meanwhile
            Err(error) if error.is_transient() || self.report_failure(&obj, &error).await => Err(error),
            Err(_) => Ok(Action::await_change()), // deleted, too; the watch will say so
            ok => ok,
        }
    }

    pub fn retry(&self, obj: &Guarded<K>, error: &E) -> Action {
        let (failures, retry) = self.failures.count(obj);
        let (name, namespace) = (obj.name_any(), obj.namespace());
        if error.is_transient() && failures < 4 {
            info!(name, namespace, %error, failures, ?retry, "reconcile interrupted");
        } else {
            warn!(name, namespace, %error, failures, ?retry, "reconcile failed");
        }
        Action::requeue(retry)
    }

    pub fn succeeded(&self, obj: &ObjectRef<Guarded<K>>) {
        self.failures.reset(obj);
    }

    /// The object is gone.
    pub fn forget(&self, obj: &ObjectRef<Guarded<K>>) {
        self.failures.reset(obj);
        self.reported.lock().expect("not poisoned").remove(obj);
    }

    /// Sets `Degraded`; publishes an event when that is new, not on each retry. Returns whether the
    /// object is there: if it has been deleted, nothing has failed.
    async fn report_failure(&self, obj: &K, error: &E) -> bool {
        let (reason, message) = (error.reason(), error.to_string());
        let mut status = obj.status().cloned().unwrap_or_default();
        let before = conditions::find(status.conditions(), "Degraded").cloned();
        conditions::set(status.conditions_mut(), obj.meta().generation, "Degraded", true, (reason, &message));
        match self.primary.set_status(obj, status).await {
            Ok(_) => {}
            Err(Error::Kube(kube::Error::Api(it))) if it.is_not_found() => return false,
            Err(error) => warn!(%error, "cannot report a failure in the status"),
        }
        if before.is_none_or(|c| c.status != "True" || c.reason != reason) {
            self.env.warning(obj, reason, &message).await;
        }
        true
    }

    async fn report_undecodable(&self, obj: &Guarded<K>, bad: &Undecodable) {
        let version = bad.metadata.resource_version.clone();
        let old = self.reported.lock().expect("not poisoned").insert(ObjectRef::from_obj(obj), version.clone());
        if old != Some(version) {
            warn!(name = obj.name_any(), namespace = obj.namespace(), error = bad.error, "cannot decode, skipped");
            self.env.warning(obj, "Undecodable", &bad.error).await;
        }
    }
}

fn panic_message(join: JoinError) -> String {
    match join.try_into_panic() {
        Ok(panic) => match panic.downcast::<String>() {
            Ok(s) => *s,
            Err(other) => other.downcast_ref::<&str>().map_or("unknown", |s| s).to_string(),
        },
        Err(join) => join.to_string(),
    }
}
