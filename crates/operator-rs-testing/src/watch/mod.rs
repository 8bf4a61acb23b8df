//! Watches: streams of the changes after a version.

mod events;

use super::{
    Cluster,
    behaviour::{Delivery, Progress},
    list::select,
    refusal::Refusal,
    request::Request,
    selector::Selector,
    server::until,
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
    breaks: u64,
    lost: Option<Instant>,
    quiet_since: Instant,
    lines: VecDeque<String>,
    news: watch::Receiver<u64>,
    control: watch::Receiver<Delivery>,
    done: bool,
}

/// The next step of a watch.
enum Step {
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
        let selector = Selector::read(store, &request)?;
        let version = request.param("resourceVersion");
        let seen: u64 = if ["", "0"].contains(&version) {
            0
        } else {
            version.parse().map_err(|_| Refusal::bad_request(format!("invalid resource version {version}")))?
        };
        let initial = if seen == 0 || request.flag("sendInitialEvents") { select(store, &request)? } else { vec![] };
        let all = seen == 0 || request.flag("sendInitialEvents");
        let current = store.version;
        store.watches += 1;
        let id = store.watches;
        let versions = Versions::of(store, &request.resource);
        let collection = store.collection(&request.resource);
        let control = cluster.control();
        let breaks = control.borrow().breaks;
        let mut this = Self {
            id,
            dead: dead.clone(),
            selector,
            versions,
            kind: collection.kind.name.clone(),
            seen: if all { current } else { seen },
            breaks,
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
            let line = this.bookmark(current, true);
            this.lines.push_back(line);
        }
        Ok(this)
    }

    /// The body of the answer.
    pub fn into_stream(self) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> + Send {
        stream::unfold(self, |mut this| async move {
            let dead = this.dead.clone();
            let line = until(&dead, this.next()).await?;
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
            let step = self.step(&delivery);
            let progress = Progress {
                resource: self.request.resource.clone(),
                seen: if self.lines.is_empty() { self.seen } else { 0 },
                lost: self.lost.is_some(),
                dead: self.dead.clone(),
            };
            self.cluster.watching(self.id, Some(progress));
            match step {
                Step::Send => {}
                Step::End => return None,
                Step::WaitUntil(due) => {
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

    fn step(&mut self, delivery: &Delivery) -> Step {
        if delivery.breaks != self.breaks {
            return Step::End;
        }
        let cluster = self.cluster.clone();
        let now = Instant::now();
        let changes = cluster.with_store(|store| self.unseen(store));
        let Some(changes) = changes else { return self.gone() };
        if let Some(quiet) = delivery.dropped {
            if let Some(last) = changes.last() {
                self.seen = last.version;
                self.lost = Some(last.at);
            }
            return match self.lost {
                Some(lost) if lost + quiet <= now => self.gone(),
                Some(lost) => Step::WaitUntil(lost + quiet),
                None => Step::WaitUntil(now + BOOKMARK * 60),
            };
        }
        if self.lost.is_some() {
            return self.gone();
        }
        if delivery.held {
            return Step::WaitUntil(now + BOOKMARK * 60);
        }
        for change in changes {
            if now < change.at + delivery.delay {
                if self.lines.is_empty() {
                    return Step::WaitUntil(change.at + delivery.delay);
                }
                break;
            }
            self.seen = change.version;
            let Some(line) = self.event(&change) else { continue };
            if delivery.doubled {
                self.lines.push_back(line.clone());
            }
            self.lines.push_back(line);
        }
        if self.lines.is_empty() {
            return Step::WaitUntil(self.bookmark_due());
        }
        self.quiet_since = now;
        Step::Send
    }

    /// The changes that were not seen yet, or `None` if some of them are forgotten.
    fn unseen(&self, store: &mut Store) -> Option<Vec<Change>> {
        let collection = store.collection(&self.request.resource);
        if self.seen < collection.forgotten {
            return None;
        }
        let from = collection.history.partition_point(|it| it.version <= self.seen);
        let namespace = &self.request.namespace;
        let new = collection.history.range(from..);
        Some(new.filter(|it| namespace.is_empty() || it.object.key.0 == *namespace).cloned().collect())
    }

    fn bookmark_due(&self) -> Instant {
        self.quiet_since + BOOKMARK
    }

    fn send_bookmark(&mut self) {
        let cluster = self.cluster.clone();
        let version = cluster.with_store(|store| self.unseen(store).filter(Vec::is_empty).map(|_| store.version));
        self.quiet_since = Instant::now();
        if let (Some(version), true) = (version, self.request.flag("allowWatchBookmarks")) {
            self.seen = version;
            let line = self.bookmark(version, false);
            self.lines.push_back(line);
        }
    }

    /// Ends with 410 Gone, as an event.
    fn gone(&mut self) -> Step {
        let refusal = Refusal::new(410, "Expired", format!("too old resource version: {}", self.seen));
        let status: Value = refusal.status();
        let line = self.line("ERROR", status.to_string());
        self.lines.push_back(line);
        self.done = true;
        Step::Send
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cluster.watching(self.id, None);
    }
}
