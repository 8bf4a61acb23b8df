//! The changes that matter to a predicate. kube's `predicate_filter` would keep them from the cache, too.

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

/// The last state of each object that a predicate has seen, as a hash.
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
    /// A filter to which it matters, too, whether `is` holds for an object.
    pub fn with_property(self, is: impl Fn(&C) -> bool + Send + Sync + 'static) -> Self {
        let with = |it: BoxPredicate<C>| -> BoxPredicate<C> {
            Arc::new(move |object: &C| it.hash_property(object).map(|hash| hash ^ u64::from(is(object))))
        };
        Self::new(self.predicate.map(with))
    }

    /// A hash of the parts of an object that the predicate looks at; nothing where every change matters.
    pub fn hash_observed(&self, object: &Observed<C>) -> Option<u64> {
        self.predicate.as_ref()?;
        // To no predicate does it matter how an object changes that cannot be decoded.
        object.decode().map_or(Some(0), |it| self.hash_object(&object.object_key(), &it))
    }

    /// Whether an event is about something that matters.
    pub fn record_change(&self, key: &str, object: &C) -> bool {
        self.record_hash(key, self.hash_object(key, object))
    }

    /// Remembers what the predicate sees of an object. Returns whether that is news.
    pub fn record_hash(&self, key: &str, hash: Option<u64>) -> bool {
        let Some(hash) = hash else { return true };
        super::lock(&self.seen).insert(key.into(), hash) != Some(hash)
    }

    /// A hash of the parts of an object that the predicate looks at; nothing where every change matters.
    pub fn hash_object(&self, key: &str, object: &C) -> Option<u64> {
        let predicate = self.predicate.as_ref()?;
        catch_unwind(AssertUnwindSafe(|| predicate.hash_property(object))).unwrap_or_else(|panic| {
            let error = Error::Panic(crate::worker::panic_message(&*panic));
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
