//! Measures the time in which nothing happens on a cluster.

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
    pub fn start(cluster: &Cluster) -> Self {
        Self { last: (cluster.write_count(), cluster.latest_resource_version()), ticks: 0 }
    }

    /// Waits for a tick, and counts anew if something has happened in it.
    pub async fn wait_for_tick(&mut self, cluster: &Cluster) {
        sleep(TICK).await;
        let now = (cluster.write_count(), cluster.latest_resource_version());
        self.ticks = if now == self.last { self.ticks.saturating_add(1) } else { 0 };
        self.last = now;
    }

    /// Counts anew.
    pub fn reset(&mut self) {
        self.ticks = 0;
    }

    /// Returns true if nothing has happened for this long.
    pub fn has_lasted(&self, time: Duration) -> bool {
        time <= TICK * self.ticks
    }
}
