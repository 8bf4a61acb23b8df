//! The handle of the objects that a controller reconciles.

use crate::{
    Error,
    cache::{PrimaryCache, Watchable},
};
use kube::{core::object::HasStatus, runtime::reflector::Store};
use serde::Serialize;
use std::sync::Arc;

/// The objects that a controller reconciles, and the way to write their status.
/// [`Controller::primary`](crate::Controller::primary) returns it.
pub struct Primary<K: Watchable> {
    pub(crate) cache: Arc<PrimaryCache<K>>,
}

impl<K: Watchable> Clone for Primary<K> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone() }
    }
}

impl<K: Watchable> Primary<K> {
    pub(crate) fn new(cache: Arc<PrimaryCache<K>>) -> Self {
        Self { cache }
    }

    /// Returns the objects as a store of kube.
    pub fn store(&self) -> Store<K> {
        self.cache.store()
    }

    /// Writes the status if it differs from the current one. Returns whether it has written.
    ///
    /// Conditions that other field managers have set keep their owner, even if `status` contains them.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] if the API server refuses the status. The reason is `NotFound` if the object no longer exists,
    /// and `Conflict` if it has been created again; if the reconcile returns one of these errors, this does not count
    /// as a failure. [`Error::NoStatus`] if the CRD has no subresource `status`.
    pub async fn update_status(&self, object: &K, status: K::Status) -> Result<bool, Error>
    where
        K: Serialize + HasStatus<Status: Serialize + PartialEq + Sync>,
    {
        self.cache.update_status(object, status).await
    }
}
