//! The result of a reconcile. Only kube's own queue can read the time in kube's type.

use std::time::Duration;

/// The time of the next reconcile of an object after a successful one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The time after which the object is reconciled again if nothing changes.
    pub(crate) requeue_after: Option<Duration>,
}

impl Action {
    /// Reconciles the object again after this time, or earlier if it or one of its dependents changes.
    #[must_use]
    pub const fn requeue(after: Duration) -> Self {
        Self { requeue_after: Some(after) }
    }

    /// Reconciles the object again when it or one of its dependents changes, and after
    /// [`sync_period`](crate::Settings::sync_period).
    #[must_use]
    pub const fn await_change() -> Self {
        Self { requeue_after: None }
    }
}
