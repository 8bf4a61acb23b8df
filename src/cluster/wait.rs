//! Waiting, with an end.

use std::time::Duration;

use tokio::time::Instant;

use super::{Cluster, Told};

/// When waiting ends.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    end: Instant,
}

impl Limit {
    /// So long from now.
    pub fn after(time: Duration) -> Self {
        Self { end: Instant::now() + time }
    }

    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}

/// How far something is.
pub enum State {
    Done,
    /// Not yet, and why not.
    Not(String),
}

impl Cluster {
    /// Looks until it is done or the time is over; then the last reason is given back. A server that
    /// cannot be reached for a while is one more reason to wait; an error of `look` ends it.
    pub fn until(
        &self,
        limit: Limit,
        tell: &mut dyn FnMut(Told),
        mut look: impl FnMut() -> anyhow::Result<State>,
    ) -> anyhow::Result<Option<String>> {
        let mut told = String::new();
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
            // What is done in half a second is not worth a line.
            if pause > 300 && reason != told {
                tell(Told::Waiting(reason.clone()));
                told = reason;
            }
            self.pause(Duration::from_millis(pause));
            pause = (pause * 3 / 2).min(1000);
        }
    }
}
