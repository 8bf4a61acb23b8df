//! The open connections, and which of them ends when there are too many. An answer is never cut off for a new
//! connection, and a client that opens many ends its own before those of others.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// The maximum number of connections.
pub const CONNECTIONS: usize = 128;
/// How long a TLS handshake and the first request may take together.
pub const HEAD: Duration = Duration::from_secs(10);
/// How long a connection may wait for the next request. Go's clients end theirs after 90 seconds, so that a request
/// does not meet a connection that ends.
const IDLE: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// A request is answered.
    Busy,
    /// A request was answered, and no other has been read.
    Idle,
    /// No request has been read.
    New,
}

#[derive(Debug, Default)]
pub struct Connections {
    open: Mutex<BTreeMap<u64, Entry>>,
    changed: Notify,
}

#[derive(Debug)]
struct Entry {
    from: IpAddr,
    state: State,
    since: Instant,
    /// Cancelled when it has to make room. It does not count any more.
    end: CancellationToken,
}

/// An open connection, until it is dropped.
#[derive(Debug)]
pub struct Connection {
    all: Arc<Connections>,
    id: u64,
    end: CancellationToken,
}

impl Connections {
    /// A new connection, as soon as there is room for it. If there is none, one that is not answered ends: of the
    /// client with the most connections, one without a request before others, and the oldest.
    pub async fn open(self: &Arc<Self>, from: IpAddr) -> Connection {
        loop {
            let changed = self.changed.notified();
            if let Some(connection) = self.try_open(from) {
                return connection;
            }
            changed.await;
        }
    }

    fn try_open(self: &Arc<Self>, from: IpAddr) -> Option<Connection> {
        let mut open = crate::lock(&self.open);
        let staying = || open.values().filter(|it| !it.end.is_cancelled());
        if staying().count() >= CONNECTIONS {
            let mut of = BTreeMap::<IpAddr, usize>::new();
            staying().for_each(|it| *of.entry(it.from).or_default() += 1);
            let free = staying().filter(|it| it.state != State::Busy);
            free.max_by_key(|it| (of[&it.from], it.state, Reverse(it.since)))?.end.cancel();
        }
        let id = open.last_key_value().map_or(0, |it| it.0 + 1);
        let end = CancellationToken::new();
        open.insert(id, Entry { from, state: State::New, since: Instant::now(), end: end.clone() });
        Some(Connection { all: self.clone(), id, end })
    }
}

impl Connection {
    /// A request was read and is answered, until what this returns is dropped.
    pub fn busy(&self) -> Busy<'_> {
        self.set(State::Busy);
        Busy(self)
    }

    /// Whether a request is answered.
    pub fn is_busy(&self) -> bool {
        self.state() == Some(State::Busy)
    }

    /// Whether no request was read.
    pub fn is_new(&self) -> bool {
        self.state() == Some(State::New)
    }

    /// Waits until it has to make room for another one, or has waited for a request for too long.
    pub async fn expired(&self) {
        loop {
            let until = match crate::lock(&self.all.open).get(&self.id) {
                Some(Entry { state: State::New, since, .. }) => *since + HEAD,
                Some(Entry { state: State::Idle, since, .. }) => *since + IDLE,
                Some(Entry { state: State::Busy, .. }) => Instant::now() + HEAD,
                None => return,
            };
            if until <= Instant::now() {
                return;
            }
            tokio::select! { () = self.end.cancelled() => return, () = sleep_until(until) => {} }
        }
    }

    fn state(&self) -> Option<State> {
        crate::lock(&self.all.open).get(&self.id).map(|it| it.state)
    }

    fn set(&self, state: State) {
        if let Some(entry) = crate::lock(&self.all.open).get_mut(&self.id) {
            (entry.state, entry.since) = (state, Instant::now());
        }
        self.all.changed.notify_waiters();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        crate::lock(&self.all.open).remove(&self.id);
        self.all.changed.notify_waiters();
    }
}

/// A request that is answered.
pub struct Busy<'a>(&'a Connection);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set(State::Idle);
    }
}
