//! Deleting what a primary object owns and does not desire any more. kube has no pruning.

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

/// Moments of this process, in their order.
pub(crate) type Moment = u64;

static MOMENTS: AtomicU64 = AtomicU64::new(1);

pub(super) fn now() -> Moment {
    MOMENTS.fetch_add(1, Ordering::Relaxed)
}

/// The reconciles of a controller that run, by the uids of their objects. At most one of each object runs.
#[derive(Default)]
pub(crate) struct RunningReconciles(Mutex<HashMap<String, Moment>>);

impl RunningReconciles {
    /// Notes that a reconcile of the object with this uid begins. It ends when the guard is dropped.
    pub fn begin(self: &Arc<Self>, uid: Option<&str>) -> ReconcileGuard {
        let uid = uid.unwrap_or_default().to_owned();
        lock(&self.0).insert(uid.clone(), now());
        ReconcileGuard { running: self.clone(), uid }
    }

    /// When the reconcile of the object with this uid has begun; none if none runs.
    pub fn reconcile_start(&self, uid: Option<&str>) -> Option<Moment> {
        lock(&self.0).get(uid?).copied()
    }
}

/// A reconcile that runs until this is dropped.
pub(crate) struct ReconcileGuard {
    running: Arc<RunningReconciles>,
    uid: String,
}

impl Drop for ReconcileGuard {
    fn drop(&mut self) {
        lock(&self.running.0).remove(&self.uid);
    }
}

/// A cache from which objects of any kind are removed that are not desired any more.
pub(crate) trait Prunes<P>: Send + Sync {
    /// Deletes what belongs to `owner` and was applied by this operator, but not since `began`.
    fn prune<'a>(&'a self, owner: &'a P, began: Moment) -> BoxFuture<'a, Result<(), Error>>;
}

impl<P: Watchable, C: Watchable> Prunes<P> for Children<C> {
    fn prune<'a>(&'a self, owner: &'a P, began: Moment) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let undesired: Vec<_> = {
                let state = lock(&self.state);
                let all = if self.are_owned() { self.entries_of_parent(&state, owner) } else { vec![] };
                let all = all.into_iter().filter(|(_, it)| !it.is_deleted && !it.is_terminating);
                let all = all.filter(|(_, it)| it.owned_fields.is_some() && it.applied_at < began);
                let all = all.filter(|(key, _)| !state.applying.contains_key(&***key));
                all.map(|(key, it)| (key.clone(), it.uid.clone())).collect()
            };
            for (key, uid) in undesired {
                info!(kind = %C::kind(&()), object = %key, "deleting an object that is no longer desired");
                let (namespace, name) = key.split_once('/').unwrap_or_default();
                let preconditions = Preconditions { uid: uid.map(Into::into), resource_version: None };
                let params = DeleteParams::background().preconditions(preconditions);
                match self.api(Some(namespace).filter(|it| !it.is_empty())).delete(name, &params).await {
                    Ok(_) => {}
                    Err(kube::Error::Api(it)) if it.code == 404 => {}
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
