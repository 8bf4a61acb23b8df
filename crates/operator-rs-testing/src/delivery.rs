//! The delivery of watch events, and the progress of watches.

use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The way in which the watches deliver their events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivery {
    /// The time between a change and its event.
    pub delay: Duration,
    /// Nothing is delivered until it is released.
    pub is_held: bool,
    /// Each event is delivered twice.
    pub is_repeated: bool,
    /// Events are lost; when none was lost for this time, the watch ends with 410 Gone.
    pub lost_until_gone: Option<Duration>,
    /// The number of times that all watches were ended.
    pub ended_watches: u64,
}

/// The progress of a watch.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The resource that is watched.
    pub resource: String,
    /// The version up to which everything was delivered.
    pub seen: u64,
    /// True if it has lost events.
    pub has_lost_events: bool,
    /// Cancelled when its client is cut off.
    pub dead: CancellationToken,
}
