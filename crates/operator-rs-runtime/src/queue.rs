//! The workqueue: each object is in it at most once, and leaves it a little after it came in, so
//! that a burst of events is one reconcile. kube's debounce starts again with each event, so that
//! steady events would starve an object.

use crate::{
    cache::{Watched, object_ref},
    lock,
    metrics::ControllerMetrics,
};
use futures::{Stream, stream};
use kube::runtime::{controller::ReconcileRequest, reflector::ObjectRef};
use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// The keys of objects that are to be reconciled.
pub(crate) struct Queue {
    /// How long an object waits for further events.
    batch: Duration,
    metrics: ControllerMetrics,
    state: Mutex<State>,
    added: Notify,
}

#[derive(Default)]
struct State {
    /// In the order in which they came, with when that was.
    waiting: VecDeque<(Arc<str>, Instant)>,
    /// Since when objects wait, until their reconcile begins.
    since: HashMap<Arc<str>, Instant>,
}

impl Queue {
    pub fn new(batch: Duration, metrics: ControllerMetrics) -> Arc<Self> {
        Arc::new(Self { batch, metrics, state: Mutex::default(), added: Notify::new() })
    }

    /// Asks for a reconcile of an object, unless one is due already.
    pub fn add(&self, key: &str) {
        let mut state = lock(&self.state);
        if state.since.contains_key(key) {
            return;
        }
        let (key, now) = (Arc::<str>::from(key), Instant::now());
        state.since.insert(key.clone(), now);
        state.waiting.push_back((key, now));
        self.metrics.queue_added();
        self.metrics.queue_depth(state.since.len() as i64);
        drop(state);
        self.added.notify_one();
    }

    /// Starts the reconcile of an object: a later event triggers another one.
    pub fn take(&self, key: &str) {
        let mut state = lock(&self.state);
        if let Some(since) = state.since.remove(key) {
            self.metrics.queue_taken(since.elapsed());
            self.metrics.queue_depth(state.since.len() as i64);
        }
    }

    /// What is due, as kube's applier takes it.
    pub fn requests<K: Watched>(self: Arc<Self>) -> impl Stream<Item = Result<ReconcileRequest<K>, Infallible>> + Send {
        stream::unfold(self, |queue| async {
            let key = queue.next().await;
            let object: ObjectRef<K> = object_ref(&key);
            Some((Ok(object.into()), queue))
        })
    }

    async fn next(&self) -> Arc<str> {
        loop {
            let first = lock(&self.state).waiting.front().map(|(_, at)| *at + self.batch);
            match first {
                Some(at) if Instant::now() < at => sleep_until(at).await,
                Some(_) => {
                    if let Some((key, _)) = lock(&self.state).waiting.pop_front() {
                        return key;
                    }
                }
                None => self.added.notified().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    #[tokio::test(start_paused = true)]
    async fn an_object_waits_for_further_events_as_long_as_is_set() {
        for batch in [Duration::ZERO, Duration::from_secs(7)] {
            let queue = Queue::new(batch, Metrics::default().controller("a"));
            let start = Instant::now();
            (0..10).for_each(|_| queue.add("n/a"));
            assert_eq!((&*queue.next().await, start.elapsed()), ("n/a", batch));
            queue.take("n/a");
            assert!(lock(&queue.state).waiting.is_empty(), "one reconcile");
        }
    }
}
