//! Watches: streams of the changes after a version.

mod events;

use super::{
    Cluster,
    cancellation::unless_cancelled,
    delivery::{Delivery, Progress},
    list::select_objects,
    refusal::Refusal,
    request::Request,
    selector::Selector,
    store::{Change, Store},
    versions::Versions,
};
use futures::{Stream, stream};
use hyper::body::{Bytes, Frame};
use serde_json::Value;
use std::{collections::VecDeque, convert::Infallible, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// The server sends a bookmark after this time without an event.
const BOOKMARK: Duration = Duration::from_secs(10);

/// One watch that is open.
pub struct Watch {
    id: u64,
    dead: CancellationToken,
    cluster: Cluster,
    request: Request,
    selector: Selector,
    versions: Option<Versions>,
    kind: String,
    seen: u64,
    ended_watches: u64,
    lost: Option<Instant>,
    quiet_since: Instant,
    lines: VecDeque<String>,
    news: watch::Receiver<u64>,
    control: watch::Receiver<Delivery>,
    done: bool,
}

/// The next step of a watch.
enum NextStep {
    Send,
    WaitUntil(Instant),
    End,
}

impl Watch {
    /// Opens a watch, which delivers nothing once `dead` is cancelled. It starts with all objects if the request
    /// names no version or requests them.
    pub fn open(
        cluster: Cluster,
        store: &mut Store,
        request: Request,
        dead: &CancellationToken,
    ) -> Result<Self, Refusal> {
        let selector = Selector::of_request(store, &request)?;
        let version = request.param("resourceVersion");
        let seen: u64 = if ["", "0"].contains(&version) {
            0
        } else {
            version.parse().map_err(|_| Refusal::bad_request(format!("invalid resource version {version}")))?
        };
        let initial =
            if seen == 0 || request.flag("sendInitialEvents") { select_objects(store, &request)? } else { vec![] };
        let all = seen == 0 || request.flag("sendInitialEvents");
        let current = store.version;
        store.watches += 1;
        let id = store.watches;
        let versions = Versions::of(store, &request.resource);
        let collection = store.collection(&request.resource);
        let control = cluster.control();
        let ended_watches = control.borrow().ended_watches;
        let mut this = Self {
            id,
            dead: dead.clone(),
            selector,
            versions,
            kind: collection.kind.name.clone(),
            seen: if all { current } else { seen },
            ended_watches,
            lost: None,
            quiet_since: Instant::now(),
            lines: VecDeque::new(),
            news: collection.news.subscribe(),
            control,
            done: false,
            cluster,
            request,
        };
        for object in &initial {
            let line = this.object_line("ADDED", object);
            this.lines.push_back(line);
        }
        if this.request.flag("sendInitialEvents") {
            let line = this.bookmark_line(current, true);
            this.lines.push_back(line);
        }
        Ok(this)
    }

    /// The body of the answer.
    pub fn into_stream(self) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
        stream::unfold(self, |mut this| async move {
            let dead = this.dead.clone();
            let line = unless_cancelled(&dead, this.next()).await?;
            Some((Ok(Frame::data(Bytes::from(line))), this))
        })
    }

    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Some(line);
            }
            if self.done {
                return None;
            }
            self.news.borrow_and_update();
            let delivery = self.control.borrow_and_update().clone();
            let step = self.next_step(&delivery);
            let progress = Progress {
                resource: self.request.resource.clone(),
                seen: if self.lines.is_empty() { self.seen } else { 0 },
                has_lost_events: self.lost.is_some(),
                dead: self.dead.clone(),
            };
            self.cluster.note_progress(self.id, Some(progress));
            match step {
                NextStep::Send => {}
                NextStep::End => return None,
                NextStep::WaitUntil(due) => {
                    let bookmark = due == self.bookmark_due();
                    tokio::select! {
                        changed = self.news.changed() => changed.ok()?,
                        changed = self.control.changed() => changed.ok()?,
                        () = sleep_until(due) => if bookmark { self.send_bookmark() },
                    }
                }
            }
        }
    }

    fn next_step(&mut self, delivery: &Delivery) -> NextStep {
        if delivery.ended_watches != self.ended_watches {
            return NextStep::End;
        }
        let cluster = self.cluster.clone();
        let now = Instant::now();
        let changes = cluster.with_store(|store| self.unseen_changes(store));
        let Some(changes) = changes else { return self.end_with_gone() };
        if let Some(quiet) = delivery.lost_until_gone {
            if let Some(last) = changes.last() {
                self.seen = last.version;
                self.lost = Some(last.at);
            }
            return match self.lost {
                Some(lost) if lost + quiet <= now => self.end_with_gone(),
                Some(lost) => NextStep::WaitUntil(lost + quiet),
                None => NextStep::WaitUntil(now + BOOKMARK * 60),
            };
        }
        if self.lost.is_some() {
            return self.end_with_gone();
        }
        if delivery.is_held {
            return NextStep::WaitUntil(now + BOOKMARK * 60);
        }
        for change in changes {
            if now < change.at + delivery.delay {
                if self.lines.is_empty() {
                    return NextStep::WaitUntil(change.at + delivery.delay);
                }
                break;
            }
            self.seen = change.version;
            let Some(line) = self.event_line(&change) else { continue };
            if delivery.is_repeated {
                self.lines.push_back(line.clone());
            }
            self.lines.push_back(line);
        }
        if self.lines.is_empty() {
            return NextStep::WaitUntil(self.bookmark_due());
        }
        self.quiet_since = now;
        NextStep::Send
    }

    /// The changes that were not seen yet, or `None` if some of them are forgotten.
    fn unseen_changes(&self, store: &mut Store) -> Option<Vec<Change>> {
        let collection = store.collection(&self.request.resource);
        if self.seen < collection.forgotten {
            return None;
        }
        let from = collection.history.partition_point(|change| change.version <= self.seen);
        let namespace = &self.request.namespace;
        let new = collection.history.range(from..);
        Some(new.filter(|change| namespace.is_empty() || change.object.key.0 == *namespace).cloned().collect())
    }

    fn bookmark_due(&self) -> Instant {
        self.quiet_since + BOOKMARK
    }

    fn send_bookmark(&mut self) {
        let cluster = self.cluster.clone();
        let version =
            cluster.with_store(|store| self.unseen_changes(store).filter(Vec::is_empty).map(|_| store.version));
        self.quiet_since = Instant::now();
        if let (Some(version), true) = (version, self.request.flag("allowWatchBookmarks")) {
            self.seen = version;
            let line = self.bookmark_line(version, false);
            self.lines.push_back(line);
        }
    }

    /// Ends with 410 Gone, as an event.
    fn end_with_gone(&mut self) -> NextStep {
        let refusal = Refusal::new(410, "Expired", format!("too old resource version: {}", self.seen));
        let status: Value = refusal.status();
        let line = self.watch_line("ERROR", status.to_string());
        self.lines.push_back(line);
        self.done = true;
        NextStep::Send
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cluster.note_progress(self.id, None);
    }
}
