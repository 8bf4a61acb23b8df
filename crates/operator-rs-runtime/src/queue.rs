//! The workqueue: each object is in it at most once. The first event of a burst is due at once, what follows only
//! after a pause since the reconcile began, so that it is one more reconcile. kube's debounce starts again with each
//! event, so that steady events would starve an object, and makes the first one wait, too.

use crate::{
    cache::{Watched, object_ref},
    lock,
    metrics::ControllerMetrics,
};
use futures::{Stream, stream};
use kube::runtime::{controller::ReconcileRequest, reflector::ObjectRef};
use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// The keys of objects that are to be reconciled.
pub(crate) struct Queue {
    /// The shortest time from one reconcile of an object to the next one that an event triggers.
    batch: Duration,
    metrics: ControllerMetrics,
    state: Mutex<State>,
    added: Notify,
}

#[derive(Default)]
struct State {
    /// Whether anything is taken: a standby would collect the keys of objects that are long gone.
    is_open: bool,
    /// When an object is due, in the order in which they came.
    waiting: BTreeSet<(Instant, u64, Arc<str>)>,
    /// How many have come.
    count: u64,
    /// Since when objects wait, until their reconcile begins, and their place in `waiting`.
    since: HashMap<Arc<str>, (Instant, (Instant, u64))>,
    /// When the reconciles of the last `batch` began.
    began: HashMap<Arc<str>, Instant>,
    /// The same, in their order.
    order: VecDeque<(Instant, Arc<str>)>,
}

impl State {
    /// Forgets reconciles that began before a time.
    fn forget(&mut self, before: Instant) {
        while self.order.front().is_some_and(|(at, _)| *at <= before) {
            if let Some((at, key)) = self.order.pop_front()
                && self.began.get(&key) == Some(&at)
            {
                self.began.remove(&key);
            }
        }
    }
}

impl Queue {
    pub fn new(batch: Duration, metrics: ControllerMetrics) -> Arc<Self> {
        Arc::new(Self { batch, metrics, state: Mutex::default(), added: Notify::new() })
    }

    /// Takes keys from now on. What was added before was not kept: add everything that there is.
    pub fn open(&self) {
        lock(&self.state).is_open = true;
    }

    /// Asks for a reconcile of an object, unless one is due already.
    pub fn add(&self, key: &str) {
        let mut state = lock(&self.state);
        if !state.is_open || state.since.contains_key(key) {
            return;
        }
        let (key, now) = (Arc::<str>::from(key), Instant::now());
        let due = state.began.get(&key).map_or(now, |at| now.max(*at + self.batch));
        state.count += 1;
        let count = state.count;
        state.since.insert(key.clone(), (now, (due, count)));
        state.waiting.insert((due, count, key));
        self.metrics.queue_added();
        self.metrics.queue_depth(state.since.len() as i64);
        drop(state);
        self.added.notify_one();
    }

    /// Starts the reconcile of an object: a later event triggers another one.
    pub fn take(&self, key: &str) {
        let (mut state, now) = (lock(&self.state), Instant::now());
        let key = match state.since.remove_entry(key) {
            Some((key, (since, (due, count)))) => {
                // A retry has come first, and includes it.
                state.waiting.remove(&(due, count, key.clone()));
                self.metrics.queue_taken(since.elapsed());
                self.metrics.queue_depth(state.since.len() as i64);
                key
            }
            // A retry.
            None => key.into(),
        };
        if let Some(before) = now.checked_sub(self.batch) {
            state.forget(before);
        }
        state.began.insert(key.clone(), now);
        state.order.push_back((now, key));
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
            let first = {
                let (mut state, now) = (lock(&self.state), Instant::now());
                match state.waiting.first().map(|(due, ..)| *due) {
                    Some(due) if due <= now => state.waiting.pop_first().ok_or(None),
                    later => Err(later),
                }
            };
            // One that comes later can be due earlier.
            match first {
                Ok((.., key)) => return key,
                Err(Some(due)) => drop(timeout_at(due, self.added.notified()).await),
                Err(None) => self.added.notified().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    fn queue(batch: Duration) -> Arc<Queue> {
        let queue = Queue::new(batch, Metrics::default().controller("a"));
        queue.open();
        queue
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_event_of_a_burst_is_due_at_once_and_the_others_after_the_pause_that_is_set() {
        for batch in [Duration::ZERO, Duration::from_secs(7)] {
            let queue = queue(batch);
            let start = Instant::now();
            (0..10).for_each(|_| queue.add("n/a"));
            assert_eq!((&*queue.next().await, start.elapsed()), ("n/a", Duration::ZERO));
            queue.take("n/a");
            assert!(lock(&queue.state).waiting.is_empty(), "one reconcile");
            (0..10).for_each(|_| queue.add("n/a"));
            assert_eq!((&*queue.next().await, start.elapsed()), ("n/a", batch));
            queue.take("n/a");
            assert!(lock(&queue.state).waiting.is_empty(), "one reconcile");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_does_not_wait_for_the_pause_of_another() {
        let queue = queue(Duration::from_secs(7));
        let start = Instant::now();
        queue.add("n/a");
        queue.take(&queue.next().await);
        queue.add("n/a");
        let (_, waited) = tokio::join!(
            async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                queue.add("n/b");
            },
            async {
                assert_eq!((&*queue.next().await, start.elapsed().as_secs()), ("n/b", 1));
                (&*queue.next().await == "n/a", start.elapsed().as_secs())
            }
        );
        assert_eq!(waited, (true, 7));
    }

    #[tokio::test(start_paused = true)]
    async fn steady_events_reconcile_an_object_once_in_each_pause() {
        let queue = queue(Duration::from_secs(1));
        let taken = async {
            for _ in 0..5 {
                queue.take(&queue.next().await);
            }
        };
        let start = Instant::now();
        let events = async {
            loop {
                queue.add("n/a");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! { () = taken => {}, () = events => {} }
        assert_eq!(start.elapsed().as_secs(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_remembered_of_reconciles_has_a_bound() {
        let queue = queue(Duration::from_secs(1));
        for number in 0..100 {
            queue.add(&format!("n/{number}"));
            queue.take(&queue.next().await);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let state = lock(&queue.state);
        assert!(state.began.len() <= 11 && state.order.len() <= 11, "{}", state.began.len());
    }

    #[tokio::test(start_paused = true)]
    async fn a_retry_includes_the_event_that_waits_for_the_pause() {
        let queue = queue(Duration::from_secs(7));
        queue.add("n/a");
        queue.take(&queue.next().await);
        queue.add("n/a");
        tokio::time::advance(Duration::from_secs(5)).await;
        queue.take("n/a");
        assert!(lock(&queue.state).waiting.is_empty(), "the retry has begun after the event");
        let start = Instant::now();
        queue.add("n/a");
        assert_eq!((&*queue.next().await, start.elapsed().as_secs()), ("n/a", 7));
    }

    #[test]
    fn a_standby_collects_nothing() {
        let queue = Queue::new(Duration::ZERO, Metrics::default().controller("a"));
        queue.add("n/a");
        assert!(lock(&queue.state).since.is_empty());
        queue.open();
        queue.add("n/a");
        assert_eq!(lock(&queue.state).since.len(), 1);
    }
}
