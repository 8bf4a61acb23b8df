//! How long nothing has happened on a cluster.

use super::Cluster;
use std::time::Duration;
use tokio::time::sleep;

/// The time between two looks at the cluster.
pub const TICK: Duration = Duration::from_millis(10);

/// Counts the ticks in which nothing happened. It does not read the clock: on a busy machine time passes while
/// a controller waits for the processor, but a tick ends only after everything that was ready has run.
#[derive(Debug)]
pub struct Stillness {
    last: (usize, u64),
    ticks: u32,
}

impl Stillness {
    /// Begins to count.
    pub fn of(cluster: &Cluster) -> Self {
        Self { last: cluster.activity(), ticks: 0 }
    }

    /// Waits for a tick, and counts anew if something has happened in it.
    pub async fn tick(&mut self, cluster: &Cluster) {
        sleep(TICK).await;
        let now = cluster.activity();
        self.ticks = if now == self.last { self.ticks.saturating_add(1) } else { 0 };
        self.last = now;
    }

    /// Counts anew.
    pub fn reset(&mut self) {
        self.ticks = 0;
    }

    /// Whether nothing has happened for this long.
    pub fn lasts(&self, time: Duration) -> bool {
        time <= TICK * self.ticks
    }
}
