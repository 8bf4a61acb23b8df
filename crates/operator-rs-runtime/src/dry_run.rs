//! A dry run: the API server carries out every write without storing it, and a report says what would change. kube has
//! a parameter of single requests, which each caller can forget. This module works on a layer below all requests.

mod change;
mod request;

use change::{Change, changed_paths};
use http::{Response, header};
use kube::{Client, client::Body};
use request::{RequestEffect, Write};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};

/// The report of a dry run. Clones share it. It names objects and field paths, but no values.
///
/// The client of a dry run adds `dryRun=All` to every write that the API server can carry out without storing it. It
/// does not send other writes, such as `exec` or a request for a token of a service account; the report names them. The
/// client does not see requests to other systems: before your code changes one, it has to check
/// [`Manager::dry_run`](crate::Manager::dry_run).
///
/// ```no_run
/// # async fn controller(_: operator_rs_runtime::Manager) -> operator_rs_runtime::Result<()> { Ok(()) }
/// # async fn run(manager: operator_rs_runtime::Manager) -> operator_rs_runtime::Result<()> {
/// let manager = manager.into_dry_run();
/// controller(manager.clone()).await?; // ends after one pass over all objects
/// let report = manager.dry_run.unwrap_or_default();
/// println!("{report}");
/// assert_eq!(report.failures(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct DryRun(Arc<Mutex<Findings>>);

#[derive(Debug, Default)]
struct Findings {
    /// The changes by resource and object.
    changes: BTreeMap<(String, String), Change>,
    /// The objects that were not reconciled, by resource and object, and the reasons.
    others: BTreeMap<(String, String), (&'static str, String)>,
    reconciled: usize,
}

impl DryRun {
    /// Returns the number of objects that could not be reconciled.
    pub fn failures(&self) -> usize {
        crate::lock(&self.0).others.values().filter(|(outcome, _)| *outcome == FAILED).count()
    }

    /// Returns a client that sends every write as a dry run.
    pub(crate) fn wrap_client(&self, inner: Client) -> Client {
        let (report, namespace) = (self.clone(), inner.default_namespace().to_owned());
        let service = tower::service_fn(move |request| {
            let (report, inner) = (report.clone(), inner.clone());
            async move { report.send(&inner, request).await }
        });
        Client::new(service, namespace)
    }

    /// Counts an object that was reconciled.
    pub(crate) fn record_reconciled(&self) {
        crate::lock(&self.0).reconciled += 1;
    }

    /// Adds an object that could not be reconciled to the report.
    pub(crate) fn record_failure(&self, resource: String, object: &str, why: String) {
        crate::lock(&self.0).others.insert((resource, display_name(object)), (FAILED, why));
    }

    /// Adds an object that was not reconciled because it is paused to the report.
    pub(crate) fn record_paused(&self, resource: String, object: &str, annotation: &str) {
        crate::lock(&self.0).others.insert((resource, display_name(object)), ("paused", format!("by `{annotation}`")));
    }

    async fn send(&self, inner: &Client, request: http::Request<Body>) -> kube::Result<Response<Body>> {
        let write = match RequestEffect::from_request(&request) {
            RequestEffect::Read => return inner.send(request).await,
            RequestEffect::Unsafe => {
                let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
                let why = format!("{method} {path} cannot be part of a dry run");
                // The report names the request even if the caller ignores the error.
                let outcome = ("skipped", "it cannot be part of a dry run".to_owned());
                crate::lock(&self.0).others.insert((method, path), outcome);
                return Err(kube::Error::Service(why.into()));
            }
            RequestEffect::Write(write) => write,
        };
        let before = match write.list_request(request.uri().query().unwrap_or_default()) {
            Some(list) => list_items(inner, list).await,
            None => None,
        };
        let response = inner.send(write.dry_run_request(request).await?).await?;
        if !response.status().is_success() {
            return Ok(response);
        }
        let (mut parts, body) = response.into_parts();
        let bytes = body.collect_bytes().await?;
        self.record_write(&write, before, &serde_json::from_slice(&bytes).unwrap_or_default());
        parts.headers.remove(header::CONTENT_LENGTH);
        Ok(Response::from_parts(parts, Body::from(bytes.to_vec())))
    }

    fn record_write(&self, write: &Write, before: Option<Vec<Value>>, after: &Value) {
        let first = before.as_ref().and_then(|objects| objects.first());
        let changes = match (write.is_delete(), first) {
            _ if write.stores_nothing() => vec![],
            (true, _) => match before {
                Some(objects) => objects.iter().map(|object| (key_of_json(object), Change::Delete)).collect(),
                None => vec![(write.object_key(), Change::Delete)],
            },
            // The response is not an object, as for an eviction.
            (false, _) if after["kind"] == "Status" => vec![(write.object_key(), Change::Create)],
            (false, Some(current)) => vec![(key_of_json(after), Change::Fields(changed_paths(current, after)))],
            (false, None) if before.is_some() || write.is_create() => vec![(key_of_json(after), Change::Create)],
            (false, None) => vec![(key_of_json(after), Change::Unknown)],
        };
        let mut findings = crate::lock(&self.0);
        for (object, change) in changes {
            let changed = (write.resource_name(), display_name(&object));
            let merged = match findings.changes.remove(&changed) {
                Some(earlier) => earlier.merge_later(change),
                None => change,
            };
            findings.changes.insert(changed, merged);
        }
    }
}

/// Returns the current objects of a write, or `None` if they cannot be listed. It sends a `list` request, because the
/// operator has this permission already for its watches.
async fn list_items(inner: &Client, list: http::Request<Body>) -> Option<Vec<Value>> {
    let response = inner.send(list).await.ok()?;
    let body = response.status().is_success().then(|| response.into_body())?;
    let mut list: Value = serde_json::from_slice(&body.collect_bytes().await.ok()?).ok()?;
    serde_json::from_value(list["items"].take()).ok()
}

const FAILED: &str = "failed";

/// Returns the key of an object: `namespace/name`, or `/name` if the object is cluster-scoped.
fn key_of_json(object: &Value) -> String {
    let read = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    format!("{}/{}", read("namespace"), read("name"))
}

/// Returns a key without the leading slash of cluster-scoped objects.
fn display_name(key: &str) -> String {
    key.strip_prefix('/').unwrap_or(key).to_owned()
}

impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = crate::lock(&self.0);
        let changes = || findings.changes.values().filter(|change| change.is_effective());
        for ((resource, object), change) in findings.changes.iter().filter(|(_, change)| change.is_effective()) {
            writeln!(f, "{:<7} {resource} {object}{change}", change.verb())?;
        }
        for ((resource, object), (outcome, why)) in &findings.others {
            writeln!(f, "{outcome:<7} {resource} {object}: {why}")?;
        }
        let count = |verb: &str| changes().filter(|change| change.verb() == verb).count();
        let (create, change, delete) = (count("create"), count("change"), count("delete"));
        let failed = findings.others.values().filter(|(outcome, _)| *outcome == FAILED).count();
        let reconciled = findings.reconciled;
        write!(
            f,
            "dry run: {reconciled} reconciled, {failed} failed; {create} to create, {change} to change, {delete} to delete"
        )
    }
}
