//! The faults of the server that a test has set.

use super::{refusal::Refusal, request::Request};
use std::{fmt, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// The reaction of the server to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Reaction {
    /// It is carried out.
    Pass,
    /// It is refused, and has no effect.
    Refuse(Refusal),
    /// It has no effect, and is never answered.
    Hang,
    /// It is carried out, and never answered.
    Swallow,
    /// It is carried out, and answered as if it had failed.
    Lose(Refusal),
}

impl Reaction {
    /// Refuses with an HTTP status code.
    pub fn code(code: u16) -> Self {
        Self::Refuse(Refusal::with_code(code))
    }
}

/// A rule that is asked about every request.
pub type Rule = Arc<dyn Fn(&Request) -> Reaction + Send + Sync>;

/// The rules, and how the watches deliver.
#[derive(Clone, Default)]
pub struct Behaviour {
    /// The first that does not let a request pass decides.
    pub rules: Vec<Rule>,
    /// The way in which the watches deliver.
    pub delivery: Delivery,
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rules, {:?}", self.rules.len(), self.delivery)
    }
}

/// The way in which the watches deliver their events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delivery {
    /// So long after the change.
    pub delay: Duration,
    /// Not at all, until it is released.
    pub held: bool,
    /// Each event twice.
    pub doubled: bool,
    /// Events are lost; when there was none for this long after the first, the watch ends with 410 Gone.
    pub dropped: Option<Duration>,
    /// How often all watches were broken.
    pub breaks: u64,
}

/// The progress of a watch.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The resource that is watched.
    pub resource: String,
    /// The version up to which everything was delivered.
    pub seen: u64,
    /// Whether it has lost events.
    pub lost: bool,
    /// Cancelled when its client is cut off.
    pub dead: CancellationToken,
}
