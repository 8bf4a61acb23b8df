//! The workqueue: each object is in it at most once, and is reconciled by one worker at a time. The first event of a
//! burst is due at once, what follows only after a pause since the reconcile began, so that it is one more reconcile.
//!
//! Keys are handed out in two lanes. Changes of the objects themselves, which are what users wait for, come before the
//! rest: events of dependents, which mostly lead to a report in the status, retries, and the objects that a start or a
//! resync adds. While both lanes wait, the rest gets every fourth turn. Within a lane, the key that has been due
//! longest comes first, however many others are due; so no key starves.
//!
//! kube's applier is no queue: while all workers are busy it collects what is due in a set, and takes from it in the
//! order of the hashes, so that steady events for some objects starve others. Its debounce starts again with each
//! event, and makes the first one wait, too. The priority queue of controller-runtime has strict priorities, without a
//! share for the rest.

use crate::{lock, metrics::ControllerMetrics};
use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// A workqueue that is fair: the key that has been due longest comes first, retries included, however many others are
/// due. Each key is in it at most once, and is handed out to one worker at a time. Keys that were added by
/// [`add_change`](Self::add_change) come before all others, which get every fourth turn meanwhile.
///
/// Controllers of this crate have one each. With a watch of your own, keys can be any texts, such as `namespace/name`:
///
/// ```
/// use operator_rs_runtime::FairQueue;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let queue = FairQueue::new(Duration::from_millis(100));
/// queue.add("default/a");
/// queue.add("default/b");
/// queue.add("default/a"); // it waits already
/// let key = queue.next().await;
/// assert_eq!(&*key, "default/a");
/// queue.add("default/a"); // an event while it is being reconciled: another reconcile follows `done`
/// queue.done(key, None); // or `Some(pause)` to retry it
/// assert_eq!(&*queue.next().await, "default/b");
/// assert_eq!(&*queue.next().await, "default/a");
/// # }
/// ```
pub struct FairQueue {
    /// The shortest time from one reconcile of an object to the next one that an event triggers.
    min_interval: Duration,
    metrics: Option<ControllerMetrics>,
    state: Mutex<State>,
    changed: Notify,
}

/// The reason that a key is in the queue, the more urgent one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    /// The object itself has changed.
    Change,
    /// Anything else.
    Rest,
}

/// The number of changes that are handed out in a row while anything else is due.
const CHANGES_IN_A_ROW: u8 = 3;

/// Keys by the time when they are due, and in the order in which they came.
type Waiting = BTreeSet<(Instant, u64, Arc<str>)>;

#[derive(Default)]
struct State {
    /// Keys are taken only then: a standby would collect the keys of objects that are long gone.
    is_open: bool,
    /// The keys of each lane; none that is being reconciled.
    waiting: [Waiting; 2],
    /// The places of keys in `waiting`.
    places: HashMap<Arc<str>, (Lane, Instant, u64)>,
    /// The number of keys that were added.
    count: u64,
    /// The changes that were handed out in a row while anything else was due.
    changes_in_a_row: u8,
    /// Since when events wait for a reconcile to begin, and their lane.
    since: HashMap<Arc<str>, (Instant, Lane)>,
    running: HashSet<Arc<str>>,
    /// The times at which the reconciles of the last `min_interval` began.
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

    /// Lets a key be due at a time in a lane, unless it is due earlier or in the more urgent lane.
    fn schedule(&mut self, key: Arc<str>, lane: Lane, due: Instant) {
        let (mut lane, mut due) = (lane, due);
        if let Some(&(scheduled_lane, scheduled, count)) = self.places.get(&key) {
            if scheduled_lane <= lane && scheduled <= due {
                return;
            }
            (lane, due) = (lane.min(scheduled_lane), due.min(scheduled));
            self.waiting[scheduled_lane as usize].remove(&(scheduled, count, key.clone()));
        }
        self.count += 1;
        self.places.insert(key.clone(), (lane, due, self.count));
        self.waiting[lane as usize].insert((due, self.count, key));
    }

    /// Takes the next key that is due; if none is, the error is the time when one will be.
    fn take_due(&mut self, now: Instant) -> Result<Arc<str>, Option<Instant>> {
        let first = |waiting: &Waiting| waiting.first().map(|(due, ..)| *due);
        let [change, rest] = [first(&self.waiting[0]), first(&self.waiting[1])];
        let is_due = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        let lane = match (is_due(change), is_due(rest)) {
            (false, false) => return Err(change.into_iter().chain(rest).min()),
            (true, true) if self.changes_in_a_row < CHANGES_IN_A_ROW => {
                self.changes_in_a_row += 1;
                Lane::Change
            }
            (true, false) => Lane::Change,
            (_, true) => {
                self.changes_in_a_row = 0;
                Lane::Rest
            }
        };
        self.waiting[lane as usize].pop_first().map(|(.., key)| key).ok_or(None)
    }

    /// The time at which an event leads to a reconcile.
    fn due(&self, key: &str, now: Instant, min_interval: Duration) -> Instant {
        self.began.get(key).map_or(now, |at| now.max(*at + min_interval))
    }
}

impl FairQueue {
    /// An empty queue. `min_interval` is the shortest time from the begin of one reconcile of a key to the next one
    /// that [`add`](Self::add) asks for, so that a burst of events is two of them; the first event is not delayed.
    pub fn new(min_interval: Duration) -> Self {
        let state = State { is_open: true, ..State::default() };
        Self { min_interval, metrics: None, state: state.into(), changed: Notify::new() }
    }

    /// The queue of a controller, which takes keys once it is [open](Self::open).
    pub(crate) fn with_metrics(min_interval: Duration, metrics: ControllerMetrics) -> Arc<Self> {
        Arc::new(Self { min_interval, metrics: Some(metrics), state: Mutex::default(), changed: Notify::new() })
    }

    /// Takes keys from now on. What was added before was not kept: add everything that there is.
    pub(crate) fn open(&self) {
        lock(&self.state).is_open = true;
    }

    /// Asks for a reconcile of a key that begins after this, unless one is due already.
    pub fn add(&self, key: &str) {
        self.add_to(Lane::Rest, key);
    }

    /// The same because the object of the key itself has changed: it comes before the keys that are due for other
    /// reasons, which get every fourth turn meanwhile.
    pub fn add_change(&self, key: &str) {
        self.add_to(Lane::Change, key);
    }

    fn add_to(&self, lane: Lane, key: &str) {
        let mut state = lock(&self.state);
        let before = state.since.get(key).copied();
        if !state.is_open || before.is_some_and(|(_, before)| before <= lane) {
            return;
        }
        let (key, now) = (Arc::<str>::from(key), Instant::now());
        state.since.insert(key.clone(), (before.map_or(now, |(since, _)| since), lane));
        if before.is_none()
            && let Some(metrics) = &self.metrics
        {
            metrics.queue_added();
            metrics.queue_depth(state.since.len() as i64);
        }
        if !state.running.contains(&key) {
            let due = state.due(&key, now, self.min_interval);
            state.schedule(key, lane, due);
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Waits until a key is due, and begins its reconcile: a later event leads to another one. Call it while a worker
    /// is free, and from one task. If the future is dropped before it ends, no key is lost.
    pub async fn next(&self) -> Arc<str> {
        loop {
            let taken = {
                let mut state = lock(&self.state);
                state.take_due(Instant::now()).map(|key| self.begin(&mut state, key))
            };
            // One that comes later can be due earlier.
            match taken {
                Ok(key) => return key,
                Err(Some(due)) => drop(timeout_at(due, self.changed.notified()).await),
                Err(None) => self.changed.notified().await,
            }
        }
    }

    fn begin(&self, state: &mut State, key: Arc<str>) -> Arc<str> {
        let now = Instant::now();
        state.places.remove(&key);
        state.running.insert(key.clone());
        if let (Some((since, _)), Some(metrics)) = (state.since.remove(&key), &self.metrics) {
            metrics.queue_taken(since.elapsed());
            metrics.queue_depth(state.since.len() as i64);
        }
        if let Some(before) = now.checked_sub(self.min_interval) {
            state.forget(before);
        }
        state.began.insert(key.clone(), now);
        state.order.push_back((now, key.clone()));
        key
    }

    /// Ends the reconcile of a key. Another one is due after `retry`, or earlier if there was an event meanwhile.
    pub fn done(&self, key: Arc<str>, retry: Option<Duration>) {
        let (mut state, now) = (lock(&self.state), Instant::now());
        state.running.remove(&key);
        let event = state.since.get(&key).map(|(_, lane)| (*lane, state.due(&key, now, self.min_interval)));
        // A time that no clock can show is never.
        let retry = retry.and_then(|pause| Some((Lane::Rest, now.checked_add(pause)?)));
        for (lane, due) in event.into_iter().chain(retry) {
            state.schedule(key.clone(), lane, due);
        }
        drop(state);
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests;
