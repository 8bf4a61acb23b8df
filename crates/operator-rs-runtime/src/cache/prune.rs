//! Deleting what a primary object owns and does not want any more. kube has no pruning.

use super::{Children, Owner, Watched, lock};
use crate::error::Error;
use futures::{FutureExt, future::BoxFuture};
use kube::api::{DeleteParams, Preconditions};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tracing::info;

/// Moments of this process, in their order.
pub(super) type Moment = u64;

static MOMENTS: AtomicU64 = AtomicU64::new(1);

tokio::task_local! {
    /// The reconcile that runs.
    static RECONCILE: Reconcile;
}

/// A reconcile: when it has begun, and of which object.
struct Reconcile {
    began: Moment,
    owner: Option<Arc<Owner>>,
}

pub(super) fn now() -> Moment {
    MOMENTS.fetch_add(1, Ordering::Relaxed)
}

/// The begin of the current reconcile, or now outside of one. Objects that are applied later are desired.
pub(crate) fn began() -> Moment {
    RECONCILE.try_with(|it| it.began).unwrap_or_else(|_| now())
}

/// The object that is reconciled, as the owner of what is applied. Tasks that a reconcile spawns do not know it.
pub(super) fn owner() -> Option<Arc<Owner>> {
    RECONCILE.try_with(|it| it.owner.clone()).ok().flatten()
}

/// Runs a reconcile of the object that `owner` is, which begins now.
pub(crate) fn reconcile<F: Future>(owner: Option<Owner>, run: F) -> impl Future<Output = F::Output> {
    RECONCILE.scope(Reconcile { began: now(), owner: owner.map(Arc::new) }, run)
}

/// A cache from which objects of any kind are removed that are not desired any more.
pub(crate) trait Prunes<P>: Send + Sync {
    /// Deletes what belongs to `parent` and was applied by this operator, but not since `began`.
    fn prune<'a>(&'a self, parent: &'a P, began: u64) -> BoxFuture<'a, Result<(), Error>>;
}

impl<P: Watched, C: Watched> Prunes<P> for Children<C> {
    fn prune<'a>(&'a self, parent: &'a P, began: u64) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let undesired: Vec<_> = {
                let state = lock(&self.state);
                let all = if self.are_owned() { self.belonging(&state, parent) } else { vec![] };
                let all = all.into_iter().filter(|(_, it)| !it.is_deleted && !it.is_terminating);
                let all = all.filter(|(_, it)| it.set.is_some() && it.applied < began);
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
