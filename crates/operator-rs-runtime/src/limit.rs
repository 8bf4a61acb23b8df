//! A rate limit with bursts. (The crates for rate limits bring their own clocks and state stores; this module is only
//! the arithmetic.)

use std::{sync::Mutex, time::Duration};
use tokio::time::Instant;

/// A token bucket, which is full at first.
#[derive(Debug)]
pub(crate) struct RateLimit {
    interval: Duration,
    slack: Duration,
    /// The time when the bucket would be full again. Each token moves it by one interval.
    next: Mutex<Instant>,
}

impl RateLimit {
    /// Returns a bucket for `rate` tokens a second in the long run, and up to `burst` tokens at once.
    pub fn new(rate: f64, burst: u32) -> Self {
        let interval = Duration::try_from_secs_f64(1.0 / rate).unwrap_or(Duration::MAX / u32::MAX);
        Self { interval, slack: interval.saturating_mul(burst.max(1) - 1), next: Mutex::new(Instant::now()) }
    }

    /// Waits for a token.
    pub async fn acquire(&self) {
        let available_at = {
            let mut next = crate::lock(&self.next);
            let from = (*next).max(Instant::now());
            *next = from + self.interval;
            from.checked_sub(self.slack)
        };
        if let Some(available_at) = available_at {
            tokio::time::sleep_until(available_at).await;
        }
    }

    /// Takes a token if there is one.
    pub fn try_acquire(&self) -> bool {
        let (mut next, now) = (crate::lock(&self.next), Instant::now());
        let from = (*next).max(now);
        let is_available = from <= now + self.slack;
        if is_available {
            *next = from + self.interval;
        }
        is_available
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_the_rest_waits() {
        let (limit, start) = (RateLimit::new(10.0, 5), Instant::now());
        for _ in 0..5 {
            limit.acquire().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..10 {
            limit.acquire().await;
        }
        assert_eq!(start.elapsed().as_millis(), 1_000);
        assert!(!limit.try_acquire());
        tokio::time::advance(Duration::from_millis(100)).await;
        assert!(limit.try_acquire() && !limit.try_acquire());
        tokio::time::advance(Duration::from_secs(100)).await;
        assert_eq!((0..100).filter(|_| limit.try_acquire()).count(), 5);
    }
}
