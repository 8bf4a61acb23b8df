//! The handle of the objects of all kinds that primary objects own.

use crate::{
    Error,
    cache::{Moment, Prunes, RunningReconciles, Watchable},
    lock,
};
use kube::ResourceExt as _;
use std::sync::{Arc, Mutex};

/// All objects that `K`s own, of every kind. [`Controller::dependents`](crate::Controller::dependents) returns it.
pub struct Dependents<K> {
    caches: Arc<Mutex<Vec<Arc<dyn Prunes<K>>>>>,
    running: Arc<RunningReconciles>,
}

impl<K> Clone for Dependents<K> {
    fn clone(&self) -> Self {
        Self { caches: self.caches.clone(), running: self.running.clone() }
    }
}

impl<K: Watchable> Dependents<K> {
    pub(crate) fn new(running: Arc<RunningReconciles>) -> Self {
        Self { caches: Arc::default(), running }
    }

    pub(crate) fn add(&self, cache: Arc<dyn Prunes<K>>) {
        lock(&self.caches).push(cache);
    }

    /// Returns whether the reconcile function has a handle, so that it may prune.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.caches) > 1
    }

    /// Deletes the objects that `owner` owns, that this operator applied in an earlier reconcile, and that no task has
    /// applied since the present reconcile of `owner` began, or is applying now. The operator's role needs `delete` on
    /// these kinds.
    ///
    /// Call it in the reconcile itself, after the last `apply` has begun, also those of tasks that the reconcile has
    /// spawned. If an `apply` fails, return its error instead, because the set of desired objects is incomplete then.
    ///
    /// It sees only objects that the controller watches. If a new version of an operator does not own a kind any more,
    /// or watches it with other labels, the objects that the old version applied stay, and the operator has to delete
    /// them itself.
    ///
    /// # Errors
    ///
    /// [`Error::NotReconciled`] if no reconcile of `owner` is running; [`Error::Kube`] if the API server refuses a
    /// deletion.
    pub async fn prune(&self, owner: &K) -> Result<(), Error> {
        let began: Moment = self
            .running
            .reconcile_start(owner.meta().uid.as_deref())
            .ok_or_else(|| Error::NotReconciled { kind: K::kind(&()).into(), name: owner.name_any() })?;
        let caches = lock(&self.caches).clone();
        for cache in caches {
            cache.prune(owner, began).await?;
        }
        Ok(())
    }
}
