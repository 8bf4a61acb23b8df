//! The open connections, and the choice of the one that is closed when there are too many. A request is always answered
//! before its connection is closed, and a client that opens many connections closes its own before those of other
//! clients.

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

/// The time limit for the TLS handshake and the first request together.
pub const FIRST_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The time in which a new connection cannot be closed for another one of the same client.
const PROTECTED_TIME: Duration = Duration::from_millis(300);
/// The time for which a connection may be idle. Go's clients close idle connections after 90 seconds, so that no
/// request of theirs arrives while the server closes the connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ConnectionState {
    /// A request is being answered.
    Busy,
    /// A request was answered, and no other has been read.
    Idle,
    /// No request has been read yet.
    New,
}

#[derive(Debug)]
pub struct Connections {
    limit: usize,
    open: Mutex<BTreeMap<u64, OpenConnection>>,
    changed: Notify,
}

#[derive(Debug)]
struct OpenConnection {
    client: IpAddr,
    state: ConnectionState,
    since: Instant,
    /// Cancelled when the connection is closed for a new one. It then no longer counts towards the limit.
    end: CancellationToken,
}

/// A connection, which is open until this is dropped.
#[derive(Debug)]
pub struct Connection {
    all: Arc<Connections>,
    id: u64,
    end: CancellationToken,
}

impl Connections {
    pub fn new(limit: usize) -> Self {
        Self { limit, open: Mutex::default(), changed: Notify::new() }
    }

    /// Opens a connection, and waits for that while all connections are busy. If the limit is reached, a connection
    /// that is not busy is closed: one of the client with the most connections, preferably one that has sent no
    /// request, and of these the oldest. New connections of one client do not close each other before they could send a
    /// request.
    pub async fn open(self: &Arc<Self>, client: IpAddr) -> Connection {
        loop {
            let changed = self.changed.notified();
            match self.try_open(client) {
                Ok(connection) => return connection,
                Err(until) => drop(timeout_at(until, changed).await),
            }
        }
    }

    /// # Errors
    /// If no connection can be closed now. The error is the time of the next try.
    fn try_open(self: &Arc<Self>, client: IpAddr) -> Result<Connection, Instant> {
        let (mut open, now) = (crate::lock(&self.open), Instant::now());
        let counted = || open.values().filter(|connection| !connection.end.is_cancelled());
        if counted().count() >= self.limit {
            let mut per_client = BTreeMap::<IpAddr, usize>::new();
            counted().for_each(|connection| *per_client.entry(connection.client).or_default() += 1);
            let closable = counted().filter(|connection| connection.state != ConnectionState::Busy);
            let rank = |connection: &&OpenConnection| {
                (per_client[&connection.client], connection.state, Reverse(connection.since))
            };
            let chosen = closable.max_by_key(rank).ok_or(now + FIRST_REQUEST_TIMEOUT)?;
            let protected_until = chosen.since + PROTECTED_TIME;
            if chosen.client == client && chosen.state == ConnectionState::New && now < protected_until {
                return Err(protected_until);
            }
            chosen.end.cancel();
        }
        let id = open.last_key_value().map_or(0, |(last, _)| last + 1);
        let end = CancellationToken::new();
        open.insert(id, OpenConnection { client, state: ConnectionState::New, since: now, end: end.clone() });
        Ok(Connection { all: self.clone(), id, end })
    }
}

impl Connection {
    /// Marks the connection as busy, until the result is dropped. Call it when a request was read.
    pub fn mark_busy(&self) -> Busy<'_> {
        self.set_state(ConnectionState::Busy);
        Busy(self)
    }

    /// Returns true while a request is being answered.
    pub fn is_busy(&self) -> bool {
        self.current_state() == Some(ConnectionState::Busy)
    }

    /// Returns true if no request was read yet.
    pub fn is_new(&self) -> bool {
        self.current_state() == Some(ConnectionState::New)
    }

    /// Waits until the connection is closed for another one, or has waited too long for a request.
    pub async fn wait_until_expired(&self) {
        loop {
            let until = match crate::lock(&self.all.open).get(&self.id) {
                Some(OpenConnection { state, since, .. }) => match state {
                    ConnectionState::New => *since + FIRST_REQUEST_TIMEOUT,
                    ConnectionState::Idle => *since + IDLE_TIMEOUT,
                    ConnectionState::Busy => Instant::now() + FIRST_REQUEST_TIMEOUT,
                },
                None => return,
            };
            if until <= Instant::now() {
                return;
            }
            tokio::select! { () = self.end.cancelled() => return, () = sleep_until(until) => {} }
        }
    }

    fn current_state(&self) -> Option<ConnectionState> {
        crate::lock(&self.all.open).get(&self.id).map(|connection| connection.state)
    }

    fn set_state(&self, state: ConnectionState) {
        if let Some(connection) = crate::lock(&self.all.open).get_mut(&self.id) {
            (connection.state, connection.since) = (state, Instant::now());
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

/// A request that is being answered, until this is dropped.
pub struct Busy<'a>(&'a Connection);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.set_state(ConnectionState::Idle);
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
        // When the fifth connection was opened, both clients had two. The oldest was of the other client.
        let ended =
            |open: &[Connection]| open.iter().map(|connection| connection.end.is_cancelled()).collect::<Vec<_>>();
        assert_eq!(ended(&open), [true, false, false, false, false]);
        open[1].mark_busy();
        open.push(all.open(ip(1)).await);
        assert_eq!(ended(&open), [true, false, true, false, false, false], "one with a request is kept");
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_of_one_client_lets_each_of_its_connections_send_a_request() {
        let all = Arc::new(Connections::new(2));
        let (start, first) = (Instant::now(), all.open(ip(1)).await);
        tokio::time::advance(Duration::from_millis(1)).await;
        let (second, third) = (all.open(ip(1)).await, all.open(ip(1)).await);
        assert_eq!((start.elapsed(), first.end.is_cancelled()), (PROTECTED_TIME, true));
        drop(second.mark_busy());
        tokio::time::advance(Duration::from_millis(1)).await;
        drop(third.mark_busy());
        let _fourth = all.open(ip(1)).await;
        assert!(second.end.is_cancelled() && start.elapsed() < PROTECTED_TIME * 2, "it has had an answer");
        let _fifth = all.open(ip(2)).await;
        assert!(start.elapsed() < PROTECTED_TIME * 2, "another client does not wait");
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_waits_while_all_are_answered() {
        let all = Arc::new(Connections::new(1));
        let first = all.open(ip(1)).await;
        let busy = first.mark_busy();
        let second = all.open(ip(2));
        tokio::pin!(second);
        assert!(tokio::time::timeout(IDLE_TIMEOUT * 2, &mut second).await.is_err());
        assert!(tokio::time::timeout(IDLE_TIMEOUT * 2, first.wait_until_expired()).await.is_err());
        drop(busy);
        second.await;
        first.wait_until_expired().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_ends_that_asks_for_nothing() {
        let all = Arc::new(Connections::new(2));
        let (start, connection) = (Instant::now(), all.open(ip(1)).await);
        connection.wait_until_expired().await;
        assert_eq!(start.elapsed(), FIRST_REQUEST_TIMEOUT);
        drop(connection.mark_busy());
        connection.wait_until_expired().await;
        assert_eq!(start.elapsed(), FIRST_REQUEST_TIMEOUT + IDLE_TIMEOUT);
    }
}
