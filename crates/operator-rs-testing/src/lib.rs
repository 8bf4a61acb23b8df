//! Tests of kube-rs controllers without a cluster: an in-memory API server ([`Cluster`]), and [`faults`] that a
//! controller has to survive.
//!
//! The server keeps objects of any kind. To a controller it behaves like a real one: resource versions and
//! conflicts, watches, server-side apply with field managers and pruning, the status subresource, finalizers,
//! generated names, and the garbage collection of what an owner leaves behind. It does not validate objects against
//! schemas (see [`serialization`] for that), and fills in no defaults of the kinds of Kubernetes. With the CRD of a
//! custom resource it merges lists and maps, prunes unknown fields and fills in defaults as the schema says, see
//! [`Cluster::with_crds`]; without a CRD, lists are atomic, except for `status.conditions`. A subresource other than
//! `status` is refused with 501.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::api::ObjectMeta;
//! use operator_rs_testing::Cluster;
//!
//! let metadata = ObjectMeta { name: Some("a".into()), namespace: Some("default".into()), ..ObjectMeta::default() };
//! let cluster = Cluster::default().with_object(&ConfigMap { metadata, ..ConfigMap::default() });
//! assert!(cluster.get::<ConfigMap>("default", "a").is_some());
//! assert!(cluster.writes().is_empty());
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod admission;
mod apply;
mod built_in;
mod cancellation;
pub mod conversion;
mod converter;
mod crd;
mod delete;
mod delivery;
mod discovery;
mod dry_run;
mod execute;
mod fault;
pub mod faults;
mod inject;
mod json_objects;
mod kinds;
mod list;
mod log;
mod object;
mod objects;
mod patch;
mod refusal;
mod request;
mod run;
mod review;
mod secret;
mod selectable;
mod selector;
pub mod serialization;
mod server;
mod stillness;
mod store;
#[allow(dead_code, unused_imports, reason = "operator-rs uses the rest of this module, from this source")]
mod structural;
mod versions;
#[cfg(test)]
mod tests;
mod watch;
mod write;

pub use fault::{Fault, FaultRule};
pub use log::Write;
pub use refusal::Refusal;
pub use request::Request;

/// Tells a controller to stop.
pub use tokio_util::sync::CancellationToken;

use admission::Webhooks;
use delivery::{Delivery, Progress};
use fault::RequestRules;
use kube::{Client, Resource};
use list::Pages;
use log::Log;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use store::Store;
use tokio::{sync::watch as channel, time::sleep};

/// After this time, the objects of a deleted owner are deleted.
const COLLECTION: Duration = Duration::from_millis(20);

/// An in-memory API server. Clones are handles to the same one.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<ServerState>,
    control: channel::Sender<Delivery>,
    lost_responses: channel::Sender<usize>,
}

#[derive(Debug, Default)]
struct ServerState {
    store: Store,
    pages: Pages,
    rules: RequestRules,
    log: Log,
    webhooks: Webhooks,
    watching: BTreeMap<u64, Progress>,
    collecting: bool,
    run_timeout: Option<Duration>,
}

impl Cluster {
    /// Returns a client of this server, for code that is not run by [`run`](Self::run). Its default namespace is
    /// `default`.
    pub fn client(&self) -> Client {
        server::client(self, &CancellationToken::new())
    }

    /// Returns a client that is cut off once the token is cancelled: it gets no response any more, and its requests
    /// have no effect. This is the client of a process that crashes.
    pub fn client_disconnected_by(&self, disconnected: &CancellationToken) -> Client {
        server::client(self, disconnected)
    }

    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_store<T>(&self, f: impl FnOnce(&mut Store) -> T) -> T {
        f(&mut self.state().store)
    }

    fn with_pages<T>(&self, f: impl FnOnce(&mut Store, &mut Pages) -> T) -> T {
        let state = &mut *self.state();
        f(&mut state.store, &mut state.pages)
    }

    fn control(&self) -> channel::Receiver<Delivery> {
        self.shared.control.subscribe()
    }

    /// Collects garbage after a short time, if there may be some.
    fn collect_garbage_soon(&self) {
        let state = &mut *self.state();
        if state.store.suspects.is_empty() || state.collecting {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        state.collecting = true;
        let this = self.clone();
        runtime.spawn(async move {
            sleep(COLLECTION).await;
            let state = &mut *this.state();
            state.collecting = false;
            delete::collect_garbage(&mut state.store);
        });
    }
}

/// Returns the name of the resource of a kind, as `kubectl` writes it: `deployments.apps`, `pods`.
///
/// ```
/// use k8s_openapi::api::apps::v1::Deployment;
///
/// assert_eq!(operator_rs_testing::resource_name::<Deployment>(), "deployments.apps");
/// ```
pub fn resource_name<K: Resource<DynamicType = ()>>() -> String {
    match K::group(&()).as_ref() {
        "" => K::plural(&()).into_owned(),
        group => format!("{}.{group}", K::plural(&())),
    }
}
