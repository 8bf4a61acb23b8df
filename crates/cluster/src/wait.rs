//! Waiting with a time limit.

use std::time::Duration;

use tokio::time::Instant;

use super::{Cluster, Event};

/// When waiting ends.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    end: Instant,
}

impl Limit {
    /// This long from now.
    pub fn after(time: Duration) -> Self {
        Self { end: Instant::now() + time }
    }

    /// This limit, or the time after which `time` has passed from now, if that is earlier.
    pub fn at_most(&self, time: Duration) -> Self {
        Self { end: self.end.min(Instant::now() + time) }
    }

    /// How long it is until then.
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// Whether something is done.
pub enum State {
    Done,
    /// Not yet, for this reason.
    Not(String),
}

impl Cluster {
    /// Calls `look` until it is done or the time is over; then returns the last reason. While the server cannot be reached,
    /// it keeps waiting; any other error of `look` ends the wait.
    pub fn until(
        &self,
        limit: Limit,
        report: &mut dyn FnMut(Event),
        mut look: impl FnMut() -> anyhow::Result<State>,
    ) -> anyhow::Result<Option<String>> {
        let mut last = String::new();
        let mut pause = 100;
        loop {
            let reason = match look() {
                Ok(State::Done) => return Ok(None),
                Ok(State::Not(reason)) => reason,
                Err(error) if error.is::<super::connect::Unreachable>() => error.to_string(),
                Err(error) => return Err(error),
            };
            if limit.is_over() {
                return Ok(Some(reason));
            }
            // What takes less than half a second is not reported.
            if pause > 300 && reason != last {
                report(Event::Waiting(reason.clone()));
                last = reason;
            }
            self.pause(Duration::from_millis(pause))?;
            pause = (pause * 3 / 2).min(1000);
        }
    }
}
