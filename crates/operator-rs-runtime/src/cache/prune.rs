//! Pruning: deletes the dependents of a primary object that are no longer desired. kube has no pruning.

use super::{Children, Watchable, lock};
use crate::error::Error;
use futures::{FutureExt, future::BoxFuture};
use kube::api::{DeleteParams, Preconditions};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};
use tracing::info;

/// A moment in the life of this process, on a clock that advances with each call of [`now`].
pub(crate) type Moment = u64;

static MOMENTS: AtomicU64 = AtomicU64::new(1);

pub(super) fn now() -> Moment {
    MOMENTS.fetch_add(1, Ordering::Relaxed)
}

/// The reconciles of a controller that are running, by the uids of their objects. An object has at most one.
#[derive(Default)]
pub(crate) struct RunningReconciles(Mutex<HashMap<String, Moment>>);

impl RunningReconciles {
    /// Remembers that a reconcile of the object with this uid begins. It ends when the guard is dropped.
    pub fn begin(self: &Arc<Self>, uid: Option<&str>) -> ReconcileGuard {
        let uid = uid.unwrap_or_default().to_owned();
        lock(&self.0).insert(uid.clone(), now());
        ReconcileGuard { running: self.clone(), uid }
    }

    /// Returns when the running reconcile of the object with this uid began.
    pub fn reconcile_start(&self, uid: Option<&str>) -> Option<Moment> {
        lock(&self.0).get(uid?).copied()
    }
}

/// Marks a reconcile as running until it is dropped.
pub(crate) struct ReconcileGuard {
    running: Arc<RunningReconciles>,
    uid: String,
}

impl Drop for ReconcileGuard {
    fn drop(&mut self) {
        lock(&self.running.0).remove(&self.uid);
    }
}

/// A cache of dependents of any kind, of which those that are no longer desired can be deleted.
pub(crate) trait Prunes<P>: Send + Sync {
    /// Deletes the objects that belong to `owner` and that this operator has applied, but not since `began`.
    fn prune<'a>(&'a self, owner: &'a P, began: Moment) -> BoxFuture<'a, Result<(), Error>>;
}

impl<P: Watchable, C: Watchable> Prunes<P> for Children<C> {
    fn prune<'a>(&'a self, owner: &'a P, began: Moment) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let undesired: Vec<_> = {
                let state = lock(&self.state);
                let all = if self.are_owned() { self.entries_of_parent(&state, owner) } else { vec![] };
                let all = all.into_iter().filter(|(_, entry)| !entry.is_deleted && !entry.is_terminating);
                let all = all.filter(|(_, entry)| entry.owned_fields.is_some() && entry.applied_at < began);
                let uid = owner.meta().uid.as_deref().unwrap_or_default();
                let is_applying = |key: &str| {
                    state.applying.get(key).is_some_and(|owners| owners.iter().any(|owner| **owner == *uid))
                };
                let all = all.filter(|(key, _)| !is_applying(key));
                all.map(|(key, entry)| (key.clone(), entry.uid.clone())).collect()
            };
            for (key, uid) in undesired {
                info!(kind = %C::kind(&()), object = %key, "deleting an object that is no longer desired");
                let (namespace, name) = key.split_once('/').unwrap_or_default();
                let preconditions = Preconditions { uid: uid.map(Into::into), resource_version: None };
                let params = DeleteParams::background().preconditions(preconditions);
                match self.api(Some(namespace).filter(|name| !name.is_empty())).delete(name, &params).await {
                    Ok(_) => {}
                    Err(kube::Error::Api(status)) if status.code == 404 => {}
                    Err(error) => return Err(error.into()),
                }
                if let Some(entry) = lock(&self.state).entries.get_mut(&key) {
                    entry.is_deleted = true;
                }
            }
            Ok(())
        }
        .boxed()
    }
}
