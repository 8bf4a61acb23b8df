//! The readiness of the process, which `/readyz` reports. A process that serves webhooks is ready before its caches are
//! filled: a Service sends requests to ready pods only, and an API server can need the webhooks to list the objects for
//! the caches. controller-runtime leaves readiness to the user; kube-runtime has no probes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The parts that are not ready yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<PendingParts>>);

#[derive(Debug, Default)]
struct PendingParts {
    last_id: u64,
    by_id: BTreeMap<u64, PendingPart>,
    /// The process is ready before its caches are filled.
    ignores_caches: bool,
}

#[derive(Debug)]
struct PendingPart {
    name: String,
    is_cache: bool,
}

impl Readiness {
    /// Adds a part of the process that is not ready yet. The process is not ready until [`Pending::ready`] is called on
    /// the result.
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
        self.add_part(PendingPart { name: name.into(), is_cache: false })
    }

    /// Adds the caches of a controller. The process waits for them too, unless
    /// [`ignore_caches`](Self::ignore_caches) is called.
    pub(crate) fn expect_caches(&self, controller: impl Into<String>) -> Pending {
        self.add_part(PendingPart { name: controller.into(), is_cache: true })
    }

    fn add_part(&self, part: PendingPart) -> Pending {
        let mut parts = crate::lock(&self.0);
        parts.last_id += 1;
        let id = parts.last_id;
        parts.by_id.insert(id, part);
        Pending { readiness: self.clone(), id }
    }

    /// Makes the process ready before its caches are filled. The runtime calls it if it serves webhooks. Call it if
    /// your operator is an extension API server: API servers send it requests when they list objects.
    pub fn ignore_caches(&self) {
        crate::lock(&self.0).ignores_caches = true;
    }

    /// Returns the names of the parts that are not ready, in the order in which they were added. They include
    /// controllers whose caches the process does not wait for.
    pub fn pending(&self) -> Vec<String> {
        crate::lock(&self.0).by_id.values().map(|part| part.name.clone()).collect()
    }

    /// Returns true if the process is ready, as `/readyz` reports it.
    pub fn is_ready(&self) -> bool {
        let parts = crate::lock(&self.0);
        parts.by_id.values().all(|part| part.is_cache && parts.ignores_caches)
    }
}

/// A part of the process that is not ready yet. If it is dropped before [`ready`](Self::ready), the process never
/// becomes ready.
#[derive(Clone, Debug)]
#[must_use = "the process is not ready until `ready` is called"]
pub struct Pending {
    readiness: Readiness,
    id: u64,
}

impl Pending {
    /// Marks the part as ready. A second call changes nothing.
    pub fn ready(&self) {
        crate::lock(&self.readiness.0).by_id.remove(&self.id);
    }
}

#[cfg(test)]
mod tests;
