//! Waiting with a time limit.

use std::time::Duration;

use super::{Cluster, ProgressEvent};
use model::{Deadline, TimedOut};

/// The result of one check of a condition that is waited for.
pub enum WaitState {
    Done,
    /// Not yet, for this reason.
    Not(String),
}

impl Cluster {
    /// Calls `look` until it is done or the deadline has passed; then returns the last reason. A few seconds are left then
    /// for requests that explain it. While the server cannot be
    /// reached, it keeps waiting; any other error of `look` ends the wait.
    pub fn wait_until(
        &self,
        deadline: Deadline,
        report: &mut dyn FnMut(ProgressEvent),
        mut look: impl FnMut() -> anyhow::Result<WaitState>,
    ) -> anyhow::Result<Option<String>> {
        let (mut known, mut reported) = (None, String::new());
        let mut pause = 100;
        loop {
            let reason = match look() {
                Ok(WaitState::Done) => return Ok(None),
                Ok(WaitState::Not(reason)) => reason,
                Err(error) if error.is::<super::unreachable::Unreachable>() => error.to_string(),
                // The last state that was seen says more than the request that the deadline cut off.
                Err(error) if diagnostics::find_error::<TimedOut>(&error).is_some() => {
                    self.extend_deadline_to_explain();
                    return known.map_or_else(|| Err(error), |reason| Ok(Some(reason)));
                }
                Err(error) => return Err(error),
            };
            if deadline.is_over() {
                self.extend_deadline_to_explain();
                return Ok(Some(reason));
            }
            // A wait of less than half a second is not reported.
            if pause > 300 && reason != reported {
                report(ProgressEvent::Waiting(reason.clone()));
                reported.clone_from(&reason);
            }
            known = Some(reason);
            self.pause(Duration::from_millis(pause).min(deadline.time_left()))?;
            pause = (pause * 3 / 2).min(1000);
        }
    }

    /// Sets a deadline a few seconds from now, in which a command that has timed out can read the reasons.
    fn extend_deadline_to_explain(&self) {
        const TIME: Duration = Duration::from_secs(5);
        if self.deadline.get().is_over() {
            self.deadline.set(Deadline::after(TIME));
        }
    }
}
