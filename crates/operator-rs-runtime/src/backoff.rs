//! Waiting longer after each failure. kube has nothing per object, and its back-off for watches
//! grows to 30 seconds, for which a restarted API server would wait.

use crate::lock;
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    ops::RangeInclusive,
    sync::Mutex,
    time::Duration,
};

/// `base * 2^n`, at most `max`, give or take 20 % so that retries spread out.
fn delay(base: Duration, n: u32, max: Duration) -> Duration {
    base.saturating_mul(1 << n.min(16)).min(max).mul_f64(0.8 + 0.4 * random())
}

/// A time, give or take 10 %.
pub(crate) fn jittered(time: Duration) -> Duration {
    time.mul_f64(0.9 + 0.2 * random())
}

/// From 0 to 1.
pub(crate) fn random() -> f64 {
    (RandomState::new().hash_one(()) % 1000) as f64 / 1000.0
}

/// A `Retry-After` time, up to 20 % longer, so that retries spread out.
pub(crate) fn spread(time: Duration) -> Duration {
    time.mul_f64(1.0 + 0.2 * random())
}

/// For watches: a restarted API server is found again within 6 seconds.
#[derive(Default)]
pub(crate) struct WatchBackoff(u32);

impl Iterator for WatchBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0 = self.0.saturating_add(1);
        Some(delay(Duration::from_millis(500), self.0 - 1, Duration::from_secs(5)))
    }
}

impl kube::runtime::utils::Backoff for WatchBackoff {
    fn reset(&mut self) {
        self.0 = 0;
    }
}

/// For reconciles, by the object's key.
pub(crate) struct Failures {
    first: Duration,
    longest: Duration,
    by_key: Mutex<HashMap<Box<str>, Row>>,
}

/// Failures of one object in a row.
#[derive(Default)]
struct Row {
    uid: Option<String>,
    count: u32,
    last: &'static str,
}

/// A failure among others of the same object.
pub(crate) struct ReconcileError {
    /// How often the object has failed in a row, this time included.
    pub count: u32,
    /// Whether the reason is another than last time.
    pub is_new: bool,
    /// When to try again.
    pub retry: Duration,
}

impl Failures {
    /// With a pause after the first failure, and the longest one. There is always a pause.
    pub fn new(pauses: &RangeInclusive<Duration>) -> Self {
        let first = (*pauses.start()).max(Duration::from_millis(1));
        Self { first, longest: (*pauses.end()).max(first), by_key: Mutex::default() }
    }

    /// One more failure of an object; the first one if only others of its name have failed.
    pub fn count(&self, key: &str, uid: Option<&str>, reason: &'static str) -> ReconcileError {
        let mut map = lock(&self.by_key);
        let row = map.entry(key.into()).or_default();
        if row.uid.as_deref() != uid {
            *row = Row { uid: uid.map(Into::into), ..Row::default() };
        }
        row.count = row.count.saturating_add(1);
        let is_new = std::mem::replace(&mut row.last, reason) != reason;
        ReconcileError { count: row.count, is_new, retry: delay(self.first, row.count - 1, self.longest) }
    }

    /// An object has been reconciled, or is gone.
    pub fn reset(&self, key: &str) {
        lock(&self.by_key).remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit() {
        let secs: Vec<_> = WatchBackoff::default().take(8).map(|d| d.as_secs_f64()).collect();
        let failures = Failures::new(&(Duration::from_secs(1)..=Duration::from_secs(4)));
        let mut pauses = (0..5).map(|_| failures.count("a", None, "Reason").retry.as_secs_f64());
        for expected in [1.0, 2.0, 4.0, 4.0, 4.0] {
            let pause = pauses.next().unwrap();
            assert!((0.8 * expected..=1.2 * expected).contains(&pause), "{pause}");
        }
        let none = Failures::new(&(Duration::ZERO..=Duration::ZERO));
        assert!(none.count("a", None, "Reason").retry > Duration::ZERO, "never at once");
        assert!(secs[0] < 0.7 && secs[1] > 0.7 && secs[7] > 3.9 && secs[7] < 6.1, "{secs:?}");
    }
}
