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
    /// Adds a condition: the process is not ready until [`Pending::ready`] is called on the result.
    ///
    /// ```
    /// # let readiness = operator_rs_runtime::Readiness::default(); // `manager.readiness` in a controller
    /// let connection = readiness.expect("the connection to the database");
    /// assert_eq!(readiness.pending(), ["the connection to the database"]);
    /// assert!(!readiness.is_ready());
    /// connection.ready();
    /// assert!(readiness.is_ready());
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

    /// Makes the process ready before its caches are filled. The runtime calls it if it serves webhooks. Call it if your
    /// operator is an extension API server: API servers send it requests when they list objects.
    pub fn ignore_caches(&self) {
        crate::lock(&self.0).ignores_caches = true;
    }

    /// The names of the parts that are not ready, in the order in which they were added. They include controllers whose
    /// caches the process does not wait for.
    pub fn pending(&self) -> Vec<String> {
        crate::lock(&self.0).waiting.values().map(|part| part.name.clone()).collect()
    }

    /// Whether the process is ready, as `/readyz` reports it.
    pub fn is_ready(&self) -> bool {
        let state = crate::lock(&self.0);
        state.waiting.values().all(|part| part.is_cache && state.ignores_caches)
    }
}

/// A part of the process that is not ready yet. If it is dropped before [`ready`](Self::ready), the process never becomes
/// ready.
#[derive(Clone, Debug)]
#[must_use = "the process is not ready until `ready` is called"]
pub struct Pending {
    readiness: Readiness,
    id: u64,
}

impl Pending {
    /// Marks the part as ready. A second call changes nothing.
    pub fn ready(&self) {
        crate::lock(&self.readiness.0).waiting.remove(&self.id);
    }
}

#[cfg(test)]
mod tests;
