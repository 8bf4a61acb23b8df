//! Tests of kube-rs controllers without a cluster: an in-memory API server ([`Cluster`]), and [`faults`] that a
//! controller has to survive.
//!
//! The server keeps objects of any kind. To a controller it behaves like a real one: resource versions and
//! conflicts, watches, server-side apply with field managers and pruning, the status subresource, finalizers,
//! generated names, and the garbage collection of what an owner leaves behind. It does not validate objects against
//! schemas (see [`serialization`] for that), and fills in no defaults of the kinds of Kubernetes. With the CRD of a custom resource it merges lists and
//! maps, prunes unknown fields and fills in defaults as the schema says, see [`Cluster::with_crds`]; without a CRD,
//! lists are atomic, except for `status.conditions`. A subresource other than `status` is refused with 501.
//!
//! ```
//! use operator_rs_testing::Cluster;
//! use serde_json::json;
//!
//! let cluster = Cluster::default().with("configmaps", &[json!({ "metadata": { "name": "a", "namespace": "b" } })]);
//! assert_eq!(cluster.list("configmaps").len(), 1);
//! assert!(cluster.writes().is_empty());
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod admission;
mod apply;
mod behaviour;
mod behaviours;
pub mod conversion;
mod delete;
mod dry_run;
pub mod faults;
mod kinds;
mod list;
mod log;
mod object;
mod patch;
mod refusal;
mod request;
mod run;
mod review;
mod seed;
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

pub use behaviour::Reaction;
pub use log::Write;
pub use refusal::Refusal;
pub use request::Request;

/// Tells a controller to stop.
pub use tokio_util::sync::CancellationToken;

use admission::Webhooks;
use behaviour::{Behaviour, Delivery, Progress};
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
    state: Mutex<State>,
    control: channel::Sender<Delivery>,
    swallowed: channel::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    store: Store,
    pages: Pages,
    behaviour: Behaviour,
    log: Log,
    webhooks: Webhooks,
    watching: BTreeMap<u64, Progress>,
    collecting: bool,
}

impl Cluster {
    /// A client of this server.
    pub fn client(&self) -> Client {
        server::client(self, &CancellationToken::new())
    }

    /// A client that can be cut off: once `dead` is cancelled, it gets no answer, and its requests have no effect.
    pub fn client_until(&self, dead: &CancellationToken) -> Client {
        server::client(self, dead)
    }

    fn state(&self) -> MutexGuard<'_, State> {
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

/// The resource of a kind, as `kubectl` writes it: `deployments.apps`, `pods`.
pub fn resource<K: Resource<DynamicType = ()>>() -> String {
    match K::group(&()).as_ref() {
        "" => K::plural(&()).into_owned(),
        group => format!("{}.{group}", K::plural(&())),
    }
}
