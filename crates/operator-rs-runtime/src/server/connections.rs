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
    time::{Instant, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;

/// How long a TLS handshake and the first request may take together.
pub const HEAD: Duration = Duration::from_secs(10);
/// How long a connection has to send a request before another one of the same client can end it.
const YOUNG: Duration = Duration::from_millis(300);
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

#[derive(Debug)]
pub struct Connections {
    most: usize,
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
    /// Up to so many connections at once.
    pub fn new(most: usize) -> Self {
        Self { most, open: Mutex::default(), changed: Notify::new() }
    }

    /// A new connection, as soon as there is room for it. If there is none, one that is not answered ends: of the
    /// client with the most connections, one without a request before others, and the oldest. Its own new connections
    /// do not end each other before they could send a request.
    pub async fn open(self: &Arc<Self>, from: IpAddr) -> Connection {
        loop {
            let changed = self.changed.notified();
            match self.try_open(from) {
                Ok(connection) => return connection,
                Err(until) => drop(timeout_at(until, changed).await),
            }
        }
    }

    /// # Errors
    /// If no other can end, for now.
    fn try_open(self: &Arc<Self>, from: IpAddr) -> Result<Connection, Instant> {
        let (mut open, now) = (crate::lock(&self.open), Instant::now());
        let staying = || open.values().filter(|it| !it.end.is_cancelled());
        if staying().count() >= self.most {
            let mut of = BTreeMap::<IpAddr, usize>::new();
            staying().for_each(|it| *of.entry(it.from).or_default() += 1);
            let free = staying().filter(|it| it.state != State::Busy);
            let last = free.max_by_key(|it| (of[&it.from], it.state, Reverse(it.since))).ok_or(now + HEAD)?;
            if last.from == from && last.state == State::New && now < last.since + YOUNG {
                return Err(last.since + YOUNG);
            }
            last.end.cancel();
        }
        let id = open.last_key_value().map_or(0, |it| it.0 + 1);
        let end = CancellationToken::new();
        open.insert(id, Entry { from, state: State::New, since: now, end: end.clone() });
        Ok(Connection { all: self.clone(), id, end })
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn ip(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    #[tokio::test(start_paused = true)]
    async fn the_client_with_the_most_connections_makes_room() {
        let all = Arc::new(Connections::new(4));
        let mut open = vec![];
        for from in [1, 2, 2, 1, 2] {
            open.push(all.open(ip(from)).await);
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        // The fifth one found two of each. The oldest was of another client.
        let ended = |open: &[Connection]| open.iter().map(|it| it.end.is_cancelled()).collect::<Vec<_>>();
        assert_eq!(ended(&open), [true, false, false, false, false]);
        open[1].busy();
        open.push(all.open(ip(1)).await);
        assert_eq!(ended(&open), [true, false, true, false, false, false], "one with a request is kept");
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_one_client_lets_each_of_its_connections_send_a_request() {
        let all = Arc::new(Connections::new(2));
        let (start, first) = (Instant::now(), all.open(ip(1)).await);
        tokio::time::advance(Duration::from_millis(1)).await;
        let (second, third) = (all.open(ip(1)).await, all.open(ip(1)).await);
        assert_eq!((start.elapsed(), first.end.is_cancelled()), (YOUNG, true));
        drop(second.busy());
        tokio::time::advance(Duration::from_millis(1)).await;
        drop(third.busy());
        let _fourth = all.open(ip(1)).await;
        assert!(second.end.is_cancelled() && start.elapsed() < YOUNG * 2, "it has had an answer");
        let _fifth = all.open(ip(2)).await;
        assert!(start.elapsed() < YOUNG * 2, "another client does not wait");
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_waits_while_all_are_answered() {
        let all = Arc::new(Connections::new(1));
        let first = all.open(ip(1)).await;
        let busy = first.busy();
        let second = all.open(ip(2));
        tokio::pin!(second);
        assert!(tokio::time::timeout(IDLE * 2, &mut second).await.is_err());
        assert!(tokio::time::timeout(IDLE * 2, first.expired()).await.is_err());
        drop(busy);
        second.await;
        first.expired().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_ends_that_asks_for_nothing() {
        let all = Arc::new(Connections::new(2));
        let (start, connection) = (Instant::now(), all.open(ip(1)).await);
        connection.expired().await;
        assert_eq!(start.elapsed(), HEAD);
        drop(connection.busy());
        connection.expired().await;
        assert_eq!(start.elapsed(), HEAD + IDLE);
    }
}
