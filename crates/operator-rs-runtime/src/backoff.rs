//! Backoff: each failure leads to a longer pause. kube has no backoff per object, and its backoff for watches
//! grows to 30 seconds, so that watches would stay silent for that long after an API server has restarted.

use crate::lock;
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    ops::RangeInclusive,
    sync::Mutex,
    time::Duration,
};

/// Returns `base * 2^n`, at most `max`, plus or minus 20 % so that retries spread out.
fn backoff_delay(base: Duration, n: u32, max: Duration) -> Duration {
    base.saturating_mul(1 << n.min(16)).min(max).mul_f64(0.8 + 0.4 * random_fraction())
}

/// Returns the time plus or minus 10 %.
pub(crate) fn jittered(time: Duration) -> Duration {
    time.mul_f64(0.9 + 0.2 * random_fraction())
}

/// Returns a random number from 0 to 1.
pub(crate) fn random_fraction() -> f64 {
    (RandomState::new().hash_one(()) % 1000) as f64 / 1000.0
}

/// Lengthens a `Retry-After` time by up to 20 %, so that retries spread out.
pub(crate) fn add_jitter(time: Duration) -> Duration {
    time.mul_f64(1.0 + 0.2 * random_fraction())
}

/// The backoff of watches, which find a restarted API server again within 6 seconds.
#[derive(Default)]
pub(crate) struct WatchBackoff(u32);

impl Iterator for WatchBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0 = self.0.saturating_add(1);
        Some(backoff_delay(Duration::from_millis(500), self.0 - 1, Duration::from_secs(5)))
    }
}

impl kube::runtime::utils::Backoff for WatchBackoff {
    fn reset(&mut self) {
        self.0 = 0;
    }
}

/// The consecutive failures of each object, by its key, and the backoff of its reconciles.
pub(crate) struct Failures {
    first: Duration,
    longest: Duration,
    by_key: Mutex<HashMap<Box<str>, FailureCount>>,
}

/// The consecutive failures of one object.
#[derive(Default)]
struct FailureCount {
    uid: Option<String>,
    count: u32,
    last_reason: &'static str,
}

/// A failed reconcile, and its place among the consecutive failures of the object.
pub(crate) struct CountedFailure {
    /// The number of consecutive failures, including this one.
    pub count: u32,
    /// The reason differs from that of the previous failure.
    pub is_new: bool,
    /// The pause before the retry.
    pub retry: Duration,
}

impl Failures {
    /// Takes the pause after the first failure and the longest pause. The pause is never zero.
    pub fn new(pauses: &RangeInclusive<Duration>) -> Self {
        let first = (*pauses.start()).max(Duration::from_millis(1));
        Self { first, longest: (*pauses.end()).max(first), by_key: Mutex::default() }
    }

    /// Counts a failure of an object. The count starts again if the key belongs to a new object with another uid.
    pub fn count(&self, key: &str, uid: Option<&str>, reason: &'static str) -> CountedFailure {
        let mut by_key = lock(&self.by_key);
        let failures = by_key.entry(key.into()).or_default();
        if failures.uid.as_deref() != uid {
            *failures = FailureCount { uid: uid.map(Into::into), ..FailureCount::default() };
        }
        failures.count = failures.count.saturating_add(1);
        let is_new = std::mem::replace(&mut failures.last_reason, reason) != reason;
        let retry = backoff_delay(self.first, failures.count - 1, self.longest);
        CountedFailure { count: failures.count, is_new, retry }
    }

    /// Forgets the failures of an object that has been reconciled or no longer exists.
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
