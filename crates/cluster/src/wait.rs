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
    /// Calls `look` until it is done or the deadline has passed; then returns the last reason. A few seconds are left then
    /// for requests that explain it. While the server cannot be
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
                // The last state that was seen says more than the request that the deadline cut off.
                Err(error) if diagnostics::find::<TimedOut>(&error).is_some() => {
                    self.allow_last_words();
                    return known.map_or_else(|| Err(error), |reason| Ok(Some(reason)));
                }
                Err(error) => return Err(error),
            };
            if deadline.is_over() {
                self.allow_last_words();
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

    /// Gives a command that has waited in vain some seconds in which it can read why.
    fn allow_last_words(&self) {
        const TIME: Duration = Duration::from_secs(5);
        if self.deadline.get().is_over() {
            self.deadline.set(Deadline::after(TIME));
        }
    }
}
