//! Waiting with a time limit.

use std::time::Duration;

use super::{Cluster, Event};
use model::{Deadline, TimedOut};

/// Whether something is done.
pub enum State {
    Done,
    /// Not yet, for this reason.
    Not(String),
}

impl Cluster {
    /// Calls `look` until it is done or the deadline has passed; then returns the last reason. While the server cannot be
    /// reached, it keeps waiting; any other error of `look` ends the wait.
    pub fn until(
        &self,
        deadline: Deadline,
        report: &mut dyn FnMut(Event),
        mut look: impl FnMut() -> anyhow::Result<State>,
    ) -> anyhow::Result<Option<String>> {
        let (mut known, mut reported) = (None, String::new());
        let mut pause = 100;
        loop {
            let reason = match look() {
                Ok(State::Done) => return Ok(None),
                Ok(State::Not(reason)) => reason,
                Err(error) if error.is::<super::connect::Unreachable>() => error.to_string(),
                // What was seen last says more than that the next look was cut off.
                Err(error) if error.is::<TimedOut>() => {
                    return known.map_or_else(|| Err(error), |reason| Ok(Some(reason)));
                }
                Err(error) => return Err(error),
            };
            if deadline.is_over() {
                return Ok(Some(reason));
            }
            // What takes less than half a second is not reported.
            if pause > 300 && reason != reported {
                report(Event::Waiting(reason.clone()));
                reported.clone_from(&reason);
            }
            known = Some(reason);
            self.pause(Duration::from_millis(pause).min(deadline.left()))?;
            pause = (pause * 3 / 2).min(1000);
        }
    }
}
