//! Which changes matter to a predicate. kube's `predicate_filter` would keep them from the cache, too.

use super::{Observed, Watched, object_ref};
use crate::error::Error;
use kube::runtime::Predicate;
use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
};
use tracing::warn;

pub(super) type BoxPredicate<C> = Arc<dyn Predicate<C> + Send + Sync>;

/// What a predicate has seen of each object.
pub(crate) struct Filter<C> {
    predicate: Option<BoxPredicate<C>>,
    seen: Mutex<HashMap<Box<str>, u64>>,
}

impl<C> Filter<C> {
    pub fn new(predicate: Option<BoxPredicate<C>>) -> Self {
        Self { predicate, seen: Mutex::default() }
    }
}

impl<C: Watched> Filter<C> {
    /// Whether an event is about something that matters.
    pub fn is_news(&self, key: &str, object: &Observed<C>) -> bool {
        self.predicate.is_none() || object.decode().is_ok_and(|it| self.is_news_of(key, &it))
    }

    /// The same for an object that is decoded.
    pub fn is_news_of(&self, key: &str, object: &C) -> bool {
        let Some(predicate) = &self.predicate else { return true };
        let hash = catch_unwind(AssertUnwindSafe(|| predicate.hash_property(object))).unwrap_or_else(|panic| {
            let error = Error::Panic(crate::worker::panic_message(&*panic));
            warn!(kind = %C::kind(&()), object = %object_ref::<C>(key), %error, "cannot ask a predicate");
            None
        });
        let Some(hash) = hash else { return true };
        super::lock(&self.seen).insert(key.into(), hash) != Some(hash)
    }

    pub fn forget(&self, key: &str) {
        if self.predicate.is_some() {
            super::lock(&self.seen).remove(key);
        }
    }
}
