//! The conditions for the process to be ready, which `/readyz` reports. A process that serves webhooks is ready before
//! its caches are filled: a Service sends requests to ready pods only, and an API server can need the webhooks to list
//! what the caches hold. controller-runtime leaves readiness to the user; kube-runtime has no probes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The parts that are not ready yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    last: u64,
    waiting: BTreeMap<u64, Part>,
    /// The process is ready before its caches are filled.
    ignores_caches: bool,
}

#[derive(Debug)]
struct Part {
    name: String,
    is_cache: bool,
}

impl Readiness {
    /// The process is not ready until [`Pending::ready`] is called on what this returns.
    ///
    /// ```
    /// # let operator = runtime::readiness::Readiness::default();
    /// let connection = operator.expect("the connection to the database");
    /// assert_eq!(operator.pending(), ["the connection to the database"]);
    /// assert!(!operator.is_ready());
    /// connection.ready();
    /// assert!(operator.is_ready());
    /// ```
    pub fn expect(&self, name: impl Into<String>) -> Pending {
        self.add(Part { name: name.into(), is_cache: false })
    }

    /// The caches of a controller. The process waits for them too, unless it [ignores caches](Self::ignore_caches).
    pub(crate) fn expect_caches(&self, controller: impl Into<String>) -> Pending {
        self.add(Part { name: controller.into(), is_cache: true })
    }

    fn add(&self, part: Part) -> Pending {
        let mut state = crate::lock(&self.0);
        state.last += 1;
        let id = state.last;
        state.waiting.insert(id, part);
        Pending { readiness: self.clone(), id }
    }

    /// Makes the process ready before its caches are filled. The runtime does so when it serves webhooks; do so for a
    /// server of your own that an API server asks when it lists objects, such as an extension API server.
    pub fn ignore_caches(&self) {
        crate::lock(&self.0).ignores_caches = true;
    }

    /// Returns the names of what is not ready, in the order in which they came: also of controllers whose caches the
    /// process does not wait for.
    pub fn pending(&self) -> Vec<String> {
        crate::lock(&self.0).waiting.values().map(|part| part.name.clone()).collect()
    }

    /// Returns whether the process is ready, as `/readyz` reports it.
    pub fn is_ready(&self) -> bool {
        let state = crate::lock(&self.0);
        state.waiting.values().all(|part| part.is_cache && state.ignores_caches)
    }
}

/// Something that is not ready. If it is dropped before it is, the process never becomes ready.
#[derive(Clone, Debug)]
#[must_use = "the process is not ready until `ready` is called"]
pub struct Pending {
    readiness: Readiness,
    id: u64,
}

impl Pending {
    /// It is ready. Calling this again changes nothing.
    pub fn ready(&self) {
        crate::lock(&self.readiness.0).waiting.remove(&self.id);
    }
}

#[cfg(test)]
mod tests;
