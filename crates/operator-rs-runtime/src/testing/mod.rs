//! An in-memory API server and [`faults`], for tests of controllers without a cluster.
//!
//! The server keeps objects of any kind. To a controller it behaves like a real one: resource versions and
//! conflicts, watches, server-side apply with field managers and pruning, the status subresource, finalizers,
//! generated names, and the garbage collection of what an owner leaves behind. It does not know schemas: nothing
//! is validated, and no defaults are filled in. (The lists of the built-in kinds are merged by their keys, and
//! those of a custom resource as its CRD says, see [`Cluster::with_crds`]; without a CRD they are atomic, but for
//! `status.conditions`.)
//!
//! ```
//! use runtime::testing::Cluster;
//! use serde_json::json;
//!
//! let cluster = Cluster::default().with("configmaps", &[json!({ "metadata": { "name": "a", "namespace": "b" } })]);
//! assert_eq!(cluster.list("configmaps").len(), 1);
//! assert!(cluster.writes().is_empty());
//! ```

mod apply;
mod behaviour;
mod behaviours;
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
mod review;
mod seed;
mod selector;
mod server;
mod store;
#[cfg(test)]
mod tests;
mod watch;
mod write;

pub use behaviour::Reaction;
pub use log::Write;
pub use refusal::Refusal;
pub use request::Request;

use crate::operator::{Identity, Operator};
use behaviour::{Behaviour, Delivery, Progress};
use kube::{Client, Resource};
use list::Pages;
use log::Log;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use store::Store;
use tokio::{sync::watch as channel, time::sleep};
use tokio_util::sync::CancellationToken;

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

    /// The argument of a controller: an operator named `operator` that leads.
    pub fn operator(&self) -> Operator {
        self.operator_as(Identity { name: "operator", version: "0.0.0" })
    }

    /// The argument of a controller of this program.
    pub fn operator_as(&self, identity: Identity) -> Operator {
        Operator::new(identity, self.client())
    }

    /// Runs a controller until it has reconciled this many times, and 300 ms longer. Returns its writes, such as
    /// `PATCH deployments.apps`.
    ///
    /// # Panics
    /// If the controller fails, or has not reconciled this many times after 30 s.
    pub async fn run<F, Fut>(&self, reconciles: u64, controller: F) -> Vec<String>
    where
        F: FnOnce(Operator) -> Fut,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        self.run_as(self.operator(), reconciles, controller).await
    }

    /// The same with an operator of your own, for other settings or another identity.
    ///
    /// # Panics
    /// Like [`run`](Self::run).
    pub async fn run_as<F, Fut>(&self, operator: Operator, reconciles: u64, controller: F) -> Vec<String>
    where
        F: FnOnce(Operator) -> Fut,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let task = tokio::spawn(controller(operator.clone()));
        let limit = Instant::now() + Duration::from_secs(30);
        while reconciled(&operator) < reconciles && Instant::now() < limit && !task.is_finished() {
            sleep(Duration::from_millis(10)).await;
        }
        sleep(Duration::from_millis(300)).await;
        operator.stop.cancel();
        task.await.expect("the controller panicked").expect("the controller failed");
        let count = reconciled(&operator);
        assert!(reconciles <= count, "the controller has only reconciled {count} times");
        self.writes().into_iter().map(|it| it.what).collect()
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

/// How often the controllers of an operator have reconciled.
pub fn reconciled(operator: &Operator) -> u64 {
    let text = operator.metrics.encode();
    let lines = text.lines().filter(|it| it.starts_with("controller_runtime_reconcile_total{"));
    lines.filter_map(|it| it.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}
