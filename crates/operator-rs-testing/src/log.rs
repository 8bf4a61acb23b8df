//! The requests that the server has received.

use super::{Cluster, request::Request};
use serde_json::Value;

/// One write, in the order in which they were asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// Method and resource: `PATCH deployments.apps`, `PATCH deployments.apps/status`, `POST pods`.
    pub what: String,
    /// The path of the URL.
    pub path: String,
    /// The body that was sent.
    pub body: Value,
}

/// All requests so far.
#[derive(Debug, Default)]
pub struct Log {
    requests: Vec<Request>,
    bodies: Vec<(usize, Vec<u8>)>,
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

    /// The number of writes that were requested, and the version of the last change. While both stay the same, nothing
    /// happens.
    pub fn activity(&self) -> (usize, u64) {
        let state = self.state();
        (state.log.writes, state.store.version)
    }

    /// Forgets what was asked so far.
    pub fn clear_log(&self) {
        let log = &mut self.state().log;
        *log = Log { off: log.off, ..Log::default() };
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
