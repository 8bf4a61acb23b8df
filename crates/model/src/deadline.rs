use std::{
    error::Error,
    fmt,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use super::{Refusal, Timeout};

/// The time at which a command ends.
///
/// The command line makes one as the command starts, from `--timeout`, and everything that waits for a server or a
/// program takes it: requests, pauses between attempts, downloads, credential plugins.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    end: Instant,
    limit: Duration,
    /// [`ASKED`] when the deadline was made.
    asked: u64,
}

/// The milliseconds that the user has taken to answer questions. No time limit includes them.
static ASKED: AtomicU64 = AtomicU64::new(0);

impl Deadline {
    /// Returns the deadline that is this far from now.
    #[expect(clippy::disallowed_methods, reason = "time limits need a clock; no output shows it")]
    pub fn after(limit: Duration) -> Self {
        Self { end: Instant::now() + limit, limit, asked: ASKED.load(Ordering::Relaxed) }
    }

    /// Returns this deadline, or the one that is `time` from now if that is earlier.
    pub fn at_most(&self, time: Duration) -> Self {
        if time < self.time_left() { Self::after(time) } else { *self }
    }

    /// Returns the time until the deadline; zero once it has passed.
    #[expect(clippy::disallowed_methods, reason = "time limits need a clock; no output shows it")]
    pub fn time_left(&self) -> Duration {
        let asked = ASKED.load(Ordering::Relaxed) - self.asked;
        (self.end + Duration::from_millis(asked)).saturating_duration_since(Instant::now())
    }

    /// Returns the time from the start of the command to its deadline.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    pub fn is_over(&self) -> bool {
        self.time_left().is_zero()
    }

    /// Returns the error of a command that was still waiting for this when its time was over.
    pub fn timed_out_waiting_for(&self, waiting_for: impl Into<String>) -> TimedOut {
        TimedOut { limit: self.limit, waiting_for: waiting_for.into(), is_ahead: false }
    }

    /// Returns the error of a command that does not begin to wait for this, since its time would be over before.
    pub fn too_short_for(&self, waiting_for: impl Into<String>) -> TimedOut {
        TimedOut { is_ahead: true, ..self.timed_out_waiting_for(waiting_for) }
    }

    /// Asks the user something. The time until the answer counts towards no deadline.
    #[expect(clippy::disallowed_methods, reason = "time limits need a clock; no output shows it")]
    pub fn while_asking<T>(ask: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let answer = ask();
        let asked = start.elapsed().as_millis().try_into().unwrap_or(0);
        ASKED.fetch_add(asked, Ordering::Relaxed);
        answer
    }
}

impl FromStr for Deadline {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        text.parse::<Timeout>().map(|timeout| Self::after(timeout.duration()))
    }
}

/// A command was still waiting for something at its [`Deadline`], or would have been.
#[derive(Clone, Debug)]
pub struct TimedOut {
    limit: Duration,
    pub waiting_for: String,
    is_ahead: bool,
}

impl TimedOut {
    /// Returns the same error with another description of what the command waited for.
    pub fn for_another(self, waiting_for: String) -> Self {
        Self { waiting_for, ..self }
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = if self.is_ahead {
            ("the time limit of ", " is too short for ")
        } else {
            ("timed out after ", " while waiting for ")
        };
        f.write_str(start)?;
        if self.limit.subsec_millis() == 0 {
            Timeout::from(self.limit).fmt(f)?;
        } else {
            write!(f, "{:?}", self.limit)?;
        }
        write!(f, "{end}{}", self.waiting_for)
    }
}

impl Error for TimedOut {}

#[test]
fn a_deadline_can_only_be_brought_forward_but_for_the_time_of_questions() {
    let deadline = Deadline::after(Duration::from_secs(60));
    assert!(deadline.at_most(Duration::from_secs(5)).time_left() <= Duration::from_secs(5));
    assert!(deadline.at_most(Duration::from_secs(500)).time_left() <= Duration::from_secs(60));
    assert!(!deadline.is_over());
    assert!(Deadline::after(Duration::ZERO).is_over());
    assert_eq!(
        deadline.timed_out_waiting_for("`GET /apis`").to_string(),
        "timed out after 1m while waiting for `GET /apis`"
    );
    let (short, before) =
        (Deadline::after(Duration::from_millis(20)), ASKED.load(Ordering::Relaxed));
    Deadline::while_asking(|| while !short.is_over() {});
    assert!(ASKED.load(Ordering::Relaxed) - before >= 19);
    ASKED.fetch_add(600_000, Ordering::Relaxed);
    assert!(!short.is_over());
}
