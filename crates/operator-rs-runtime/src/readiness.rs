//! The conditions for the process to be ready: `/readyz` lists those that are not met. controller-runtime leaves this
//! to the user; kube-runtime has no probes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The parts that are not ready yet. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    names: BTreeMap<u64, String>,
}

impl Readiness {
    /// The process is not ready until [`Pending::ready`] is called on what this returns.
    ///
    /// ```
    /// # let operator = runtime::readiness::Readiness::default();
    /// let cache = operator.expect("configmaps");
    /// assert_eq!(operator.pending(), ["configmaps"]);
    /// cache.ready();
    /// assert!(operator.pending().is_empty());
    /// ```
    pub fn expect(&self, name: impl Into<String>) -> Pending {
        let mut waiting = crate::lock(&self.0);
        waiting.last += 1;
        let id = waiting.last;
        waiting.names.insert(id, name.into());
        Pending { readiness: self.clone(), id }
    }

    /// The names of what is not ready, in the order in which they came.
    pub fn pending(&self) -> Vec<String> {
        crate::lock(&self.0).names.values().cloned().collect()
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
        crate::lock(&self.readiness.0).names.remove(&self.id);
    }
}
