//! Filters the changes that trigger a reconcile by a predicate. kube's `predicate_filter` would also hide the other
//! changes from the cache.

use super::{Observed, Watchable, object_ref};
use crate::error::Error;
use kube::runtime::Predicate;
use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
};
use tracing::warn;

pub(super) type BoxPredicate<C> = Arc<dyn Predicate<C> + Send + Sync>;

/// A predicate, and the hash of what it looked at in the last state of each object.
pub(crate) struct Filter<C> {
    predicate: Option<BoxPredicate<C>>,
    seen: Mutex<HashMap<Box<str>, u64>>,
}

impl<C> Filter<C> {
    pub fn new(predicate: Option<BoxPredicate<C>>) -> Self {
        Self { predicate, seen: Mutex::default() }
    }
}

impl<C: Watchable> Filter<C> {
    /// Returns a filter that also triggers a reconcile when the result of `property` changes for an object.
    pub fn with_property(self, property: impl Fn(&C) -> bool + Send + Sync + 'static) -> Self {
        let combine = |predicate: BoxPredicate<C>| -> BoxPredicate<C> {
            Arc::new(move |object: &C| predicate.hash_property(object).map(|hash| hash ^ u64::from(property(object))))
        };
        Self::new(self.predicate.map(combine))
    }

    /// Returns a hash of the parts of an object that the predicate looks at, or `None` if every change triggers a
    /// reconcile.
    pub fn hash_observed(&self, object: &Observed<C>) -> Option<u64> {
        self.predicate.as_ref()?;
        // An object that cannot be decoded has the same hash in every state, because no predicate can look at it.
        object.decode().map_or(Some(0), |decoded| self.hash_object(&object.object_key(), &decoded))
    }

    /// Remembers the state of an object. Returns whether the change triggers a reconcile.
    pub fn record_change(&self, key: &str, object: &C) -> bool {
        self.record_hash(key, self.hash_object(key, object))
    }

    /// Remembers the hash of an object. Returns whether it has changed; `None` counts as a change.
    pub fn record_hash(&self, key: &str, hash: Option<u64>) -> bool {
        let Some(hash) = hash else { return true };
        super::lock(&self.seen).insert(key.into(), hash) != Some(hash)
    }

    /// Returns a hash of the parts of an object that the predicate looks at, or `None` if every change triggers a
    /// reconcile.
    pub fn hash_object(&self, key: &str, object: &C) -> Option<u64> {
        let predicate = self.predicate.as_ref()?;
        catch_unwind(AssertUnwindSafe(|| predicate.hash_property(object))).unwrap_or_else(|panic| {
            let error = Error::Panic(crate::panics::panic_message(&*panic));
            warn!(kind = %C::kind(&()), object = %object_ref::<C>(key), %error, "cannot ask a predicate");
            None
        })
    }

    pub fn forget_object(&self, key: &str) {
        if self.predicate.is_some() {
            super::lock(&self.seen).remove(key);
        }
    }
}
