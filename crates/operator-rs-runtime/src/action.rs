//! The result of a reconcile. The time in kube's type can be read only by kube's own queue.

use std::time::Duration;

/// When an object is reconciled again after a reconcile that has succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// The time after which it is, if nothing happens.
    pub(crate) requeue_after: Option<Duration>,
}

impl Action {
    /// After this time, or earlier if anything changes.
    #[must_use]
    pub const fn requeue(after: Duration) -> Self {
        Self { requeue_after: Some(after) }
    }

    /// When anything changes, and after [the period](crate::Settings::sync_period) in which everything is reconciled.
    #[must_use]
    pub const fn await_change() -> Self {
        Self { requeue_after: None }
    }
}
