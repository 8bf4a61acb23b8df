//! The requests that the server has received.

use super::{Cluster, refusal::Refusal, request::Request};
use kube::Resource;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

/// One write that a client requested.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Write {
    /// Method, resource and subresource: `PATCH deployments.apps`, `PATCH deployments.apps/status`, `POST pods`.
    pub summary: String,
    /// The request: verb, resource, namespace, name and the like.
    pub request: Request,
    /// The path of the URL.
    pub path: String,
    /// The body that was sent.
    pub body: Value,
}

impl Write {
    /// Returns true if the write is one of this kind, in any of its versions, or of its status.
    pub fn is_for<K: Resource<DynamicType = ()>>(&self) -> bool {
        self.request.is_for::<K>()
    }

    /// Returns the body as an object of a type. The body of an apply or a patch may lack fields that the type requires:
    /// read [`body`](Self::body) then.
    ///
    /// # Errors
    /// If the type does not read the body.
    pub fn body_as<K: DeserializeOwned>(&self) -> Result<K, serde_json::Error> {
        K::deserialize(&self.body)
    }
}

/// All requests so far.
#[derive(Debug, Default)]
pub struct Log {
    requests: Vec<Request>,
    bodies: Vec<(usize, Vec<u8>)>,
    writes: usize,
    total: usize,
    last_error: Option<String>,
    written: BTreeSet<String>,
    off: bool,
}

impl Cluster {
    /// Keeps no record of requests from now on, for measurements.
    pub fn without_request_log(self) -> Self {
        self.state().log.off = true;
        self
    }

    /// Returns all requests in their order, with lists and watches.
    pub fn requests(&self) -> Vec<Request> {
        self.state().log.requests.clone()
    }

    /// Returns all writes in the order of the requests, including those that were refused.
    pub fn writes(&self) -> Vec<Write> {
        let state = self.state();
        let log = &state.log;
        let written = log.bodies.iter().filter_map(|(at, body)| Some((log.requests.get(*at)?, body)));
        written
            .map(|(request, body)| Write {
                summary: request.summary(),
                path: request.path.clone(),
                request: request.clone(),
                body: serde_json::from_slice(body).unwrap_or_default(),
            })
            .collect()
    }

    /// Returns all writes of a kind and of its status, including those that were refused.
    ///
    /// ```
    /// # use k8s_openapi::api::{apps::v1::Deployment, core::v1::Secret};
    /// # use operator_rs_testing::Cluster;
    /// # let cluster = Cluster::default();
    /// assert!(cluster.writes_of::<Deployment>().is_empty());
    /// ```
    pub fn writes_of<K: Resource<DynamicType = ()>>(&self) -> Vec<Write> {
        self.writes().into_iter().filter(Write::is_for::<K>).collect()
    }

    /// Returns the number of writes with this [summary](Write::summary), such as `PATCH deployments.apps`.
    ///
    /// # Panics
    /// If the text does not have this form.
    pub fn count_writes(&self, summary: &str) -> usize {
        let method = summary.split_once(' ').map_or(summary, |(method, _)| method);
        assert!(
            ["DELETE", "PATCH", "POST", "PUT"].contains(&method),
            "`{summary}` is not the summary of a write: a method and a resource, as in `PATCH deployments.apps`"
        );
        self.state().log.requests.iter().filter(|request| request.is_write() && request.summary() == summary).count()
    }

    /// Returns the number of requests since the log was cleared; they are counted without a log too.
    pub fn request_count(&self) -> usize {
        self.state().log.total
    }

    /// Returns the number of writes that were requested since the log was cleared; they are counted without a log too.
    pub fn write_count(&self) -> usize {
        self.state().log.writes
    }

    /// Returns the resource version of the last change on the cluster.
    pub fn latest_resource_version(&self) -> u64 {
        self.state().store.version
    }

    /// Removes all requests from the log.
    pub fn clear_request_log(&self) {
        let log = &mut self.state().log;
        *log = Log { off: log.off, ..Log::default() };
    }

    /// Notes that a request was carried out without an error, for [`written_resources`](Self::written_resources).
    pub(super) fn note_success(&self, request: &Request) {
        if request.is_write() && !request.is_dry_run {
            self.state().log.written.insert(request.resource.clone());
        }
    }

    /// Returns the resources of all writes that succeeded; they are noted without a log too.
    pub(super) fn written_resources(&self) -> BTreeSet<String> {
        self.state().log.written.clone()
    }

    /// Notes that the response to a request is an error, for [`describe_requests`](Self::describe_requests). That an
    /// object does not exist is a usual response to a read.
    pub(super) fn note_error(&self, request: &Request, refusal: &Refusal) {
        if request.verb == "get" && refusal.code == 404 {
            return;
        }
        let Refusal { code, reason, message, .. } = refusal;
        let error = format!("{} {}: {code} {reason}, {message}", request.method, request.path);
        self.state().log.last_error = Some(error);
    }

    /// Forgets the last error response, so that the next message does not name it.
    pub(super) fn forget_last_error(&self) {
        self.state().log.last_error = None;
    }

    /// Describes the writes after the first `skipped` ones and the last error response, for messages.
    pub(super) fn describe_requests(&self, skipped: usize) -> String {
        let writes: Vec<String> = self.writes().into_iter().skip(skipped).map(|write| write.summary).collect();
        let last = writes[writes.len().saturating_sub(3)..].join(", ");
        let writes = match writes.len() {
            0 => "no writes".to_owned(),
            1 => format!("1 write, {last}"),
            count => format!("{count} writes, the last ones are {last}"),
        };
        match &self.state().log.last_error {
            Some(error) => format!("{writes}; the last error response was to {error}"),
            None => writes,
        }
    }

    /// Records a request, and numbers it if it is a write.
    pub(super) fn record_request(&self, mut request: Request, body: &[u8]) -> Request {
        let log = &mut self.state().log;
        log.total += 1;
        if request.is_write() {
            log.writes += 1;
            request.write_number = Some(log.writes);
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
