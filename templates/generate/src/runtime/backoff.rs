//! Waiting longer after each failure: a watch that broke, or an object that could not be reconciled.

use kube::runtime::{
    reflector::{Lookup, ObjectRef},
    utils::Backoff,
};
use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    sync::Mutex,
    time::Duration,
};

/// `base * 2^n`, at most `max`, give or take 20% so that retries spread out.
fn delay(base: Duration, n: u32, max: Duration) -> Duration {
    let jitter = 0.8 + (RandomState::new().hash_one(n) % 1000) as f64 / 2500.0;
    base.saturating_mul(1 << n.min(16)).min(max).mul_f64(jitter)
}

/// For watches: a restarted API server is found again within 6 seconds.
#[derive(Default)]
pub struct WatchBackoff(u32);

impl Iterator for WatchBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.0 += 1;
        Some(delay(Duration::from_millis(500), self.0 - 1, Duration::from_secs(5)))
    }
}

impl Backoff for WatchBackoff {
    fn reset(&mut self) {
        self.0 = 0;
    }
}

/// For reconciles, per object (kube has none built in): 0.2 s ... 5 min.
pub struct Failures<K: Lookup>(Mutex<HashMap<ObjectRef<K>, u32>>);

impl<K: Lookup> Default for Failures<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Lookup<DynamicType = ()>> Failures<K>
where
    ObjectRef<K>: Hash + Eq,
{
    /// How often `obj` has failed in a row, this time included, and when to retry.
    pub fn count(&self, obj: &K) -> (u32, Duration) {
        let mut map = self.0.lock().expect("not poisoned");
        let n = map.entry(ObjectRef::from_obj(obj)).or_default();
        *n = n.saturating_add(1);
        (*n, delay(Duration::from_millis(200), *n - 1, Duration::from_secs(300)))
    }

    pub fn reset(&self, obj: &ObjectRef<K>) {
        self.0.lock().expect("not poisoned").remove(obj);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit() {
        let secs: Vec<_> = WatchBackoff::default().take(8).map(|d| d.as_secs_f64()).collect();
        assert!(secs[0] < 0.7 && secs[1] > 0.7 && secs[7] > 3.9 && secs[7] < 6.1, "{secs:?}");
    }
}
