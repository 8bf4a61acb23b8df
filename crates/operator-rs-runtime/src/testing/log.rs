//! The requests that the server has received.

use super::{Cluster, request::Request};
use serde_json::Value;
use std::collections::BTreeSet;

/// One write, in the order in which they were asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// Method and resource: `PATCH deployments.apps`, `PATCH deployments.apps/status`, `POST pods`.
    pub what: String,
    /// The path of the URL.
    pub path: String,
    /// What was sent.
    pub body: Value,
    /// Whether it changed nothing, but noted on an object what was applied to it.
    pub is_note: bool,
}

/// All requests so far.
#[derive(Debug, Default)]
pub struct Log {
    requests: Vec<Request>,
    bodies: Vec<(usize, Vec<u8>)>,
    /// The numbers of writes that are notes.
    notes: BTreeSet<usize>,
    writes: usize,
    total: usize,
    off: bool,
}

impl Cluster {
    /// Keeps no record of requests from now on: for measurements.
    pub fn without_log(self) -> Self {
        self.state().log.off = true;
        self
    }

    /// Everything that was asked, lists and watches too.
    pub fn requests(&self) -> Vec<Request> {
        self.state().log.requests.clone()
    }

    /// All writes, those that were refused too.
    pub fn writes(&self) -> Vec<Write> {
        let state = self.state();
        let log = &state.log;
        let written = log.bodies.iter().filter_map(|(at, body)| Some((log.requests.get(*at)?, body)));
        written
            .map(|(it, body)| Write {
                what: it.what(),
                path: it.path.clone(),
                body: serde_json::from_slice(body).unwrap_or_default(),
                is_note: it.nth_write.is_some_and(|it| log.notes.contains(&it)),
            })
            .collect()
    }

    /// How often something was written, such as `PATCH deployments.apps`.
    pub fn count(&self, what: &str) -> usize {
        self.state().log.requests.iter().filter(|it| it.is_write() && it.what() == what).count()
    }

    /// How many requests of any kind there were; also counted where no record is kept.
    pub fn request_count(&self) -> usize {
        self.state().log.total
    }

    /// How many writes were asked, and the version of the last change: while both are the same, nothing happens.
    pub fn activity(&self) -> (usize, u64) {
        let state = self.state();
        (state.log.writes, state.store.version)
    }

    /// Forgets what was asked so far.
    pub fn clear_log(&self) {
        let log = &mut self.state().log;
        *log = Log { off: log.off, ..Log::default() };
    }

    /// Remembers whether a write was a note, by the object before and after it.
    pub(super) fn mark(&self, request: &Request, before: Option<Value>, after: Option<Value>) {
        let content = |mut object: Value| {
            for name in ["managedFields", "resourceVersion"] {
                object["metadata"][name] = Value::Null;
            }
            if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
                annotations.remove(crate::DESIRED_HASH);
            }
            if object["metadata"]["annotations"].as_object().is_none_or(serde_json::Map::is_empty) {
                object["metadata"]["annotations"] = Value::Null;
            }
            object
        };
        let (Some(number), Some(before), Some(after)) = (request.nth_write, before, after) else { return };
        if before["metadata"]["annotations"][crate::DESIRED_HASH].is_null() && content(before) == content(after) {
            self.state().log.notes.insert(number);
        }
    }

    /// Records a request, and numbers it if it is a write.
    pub(super) fn record(&self, mut request: Request, body: &[u8]) -> Request {
        let log = &mut self.state().log;
        log.total += 1;
        if request.is_write() {
            request.nth_write = Some(log.writes);
            log.writes += 1;
        }
        if !log.off {
            if request.is_write() {
                log.bodies.push((log.requests.len(), body.to_vec()));
            }
            log.requests.push(request.clone());
        }
        request
    }
}
