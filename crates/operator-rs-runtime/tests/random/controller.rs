//! The controllers of a history, and the processes that run them.

use super::kinds::{Operates as _, Thing, ThingStatus, config, labels};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt;
use operator_rs_runtime::{
    Action, Controller, Dependents, Error, FinalizerEvent, Manager, Owned, Primary, Referenced, WatchOptions, finalizer,
};
use operator_rs_testing::Cluster;
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Objects outside of the cluster, by the uids of their Things, and whether they can be removed.
#[derive(Default)]
pub struct Outside {
    pub all: Mutex<BTreeSet<String>>,
    pub is_stuck: AtomicBool,
}

struct Ctx {
    things: Primary<Thing>,
    dependents: Dependents<Thing>,
    configs: Owned<ConfigMap, Thing>,
    secrets: Referenced<Secret>,
    /// The version of each object that this process has seen or written last.
    newest: Mutex<BTreeMap<String, u64>>,
    world: World,
}

/// The part of a history that all its processes share.
#[derive(Clone, Default)]
pub struct World {
    pub broken: Broken,
    /// In histories with a finalizer.
    pub outside: Option<Arc<Outside>>,
    /// Whether there is another controller of the kind, which fails for a while.
    pub second: Option<Arc<AtomicBool>>,
}

/// Objects that were older than they may be.
pub type Broken = Arc<Mutex<Vec<String>>>;

impl Ctx {
    fn see(&self, object: &impl ResourceExt) {
        let version: u64 = object.resource_version().unwrap().parse().unwrap();
        let mut newest = self.newest.lock().unwrap();
        let newest = newest.entry(object.uid().unwrap()).or_default();
        if version < *newest {
            self.world.broken.lock().unwrap().push(format!("{} is of {version}, after {newest}", object.name_any()));
        }
        *newest = version.max(*newest);
    }
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    let Some(outside) = &ctx.world.outside else { return make(thing, ctx).await };
    finalizer(&ctx.things, "test.dev/outside", thing, async |event| match event {
        FinalizerEvent::Apply(thing) => {
            outside.all.lock().unwrap().insert(thing.uid().unwrap());
            make(thing, ctx.clone()).await
        }
        FinalizerEvent::Cleanup(_) if outside.is_stuck.load(SeqCst) => {
            Err(Error::permanent("Stuck", "it cannot be removed"))
        }
        FinalizerEvent::Cleanup(thing) => {
            outside.all.lock().unwrap().remove(&thing.uid().unwrap());
            Ok(Action::await_change())
        }
    })
    .await
}

/// Applies the desired ConfigMaps, and writes into the status what it has seen.
async fn make(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    ctx.see(&*thing);
    ctx.configs.owned_by(&thing).iter().for_each(|it| ctx.see(it));
    for name in thing.spec.configs.keys() {
        ctx.see(&ctx.configs.apply(&thing, &config(&thing, name)).await?);
    }
    ctx.dependents.prune(&thing).await?;
    let children: BTreeMap<_, _> =
        ctx.configs.owned_by(&thing).into_iter().map(|it| (it.name_any(), it.data)).collect();
    let secret = thing.spec.secret.as_ref().and_then(|it| ctx.secrets.get(Some("n"), it));
    let seen = json!([children, secret.and_then(|it| it.metadata.labels)]).to_string();
    let status = ThingStatus { external_id: Some(seen), ..thing.status.clone().unwrap_or_default() };
    ctx.things.update_status(&thing, status).await?;
    ctx.things.store().state().iter().for_each(|it| ctx.see(&**it));
    Ok(Action::await_change())
}

async fn run(manager: Manager, world: World) -> operator_rs_runtime::Result<()> {
    let second = world.second.clone().map(|fails| {
        let reconcile = |_: Arc<Thing>, fails: Arc<AtomicBool>| async move {
            if fails.load(SeqCst) { Err(Error::permanent("Second", "it fails")) } else { Ok(Action::await_change()) }
        };
        Controller::<Thing>::new(&manager).run(reconcile, fails)
    });
    let mut controller = Controller::<Thing>::new(&manager);
    let ctx = Ctx {
        things: controller.primary(),
        configs: controller.owns(&labels()),
        secrets: controller.references(WatchOptions::default(), |it: &Thing| it.spec.secret.clone()),
        dependents: controller.dependents(),
        newest: Mutex::default(),
        world,
    };
    let first = controller.run(reconcile, Arc::new(ctx));
    match second {
        Some(second) => futures::try_join!(first, second).map(|_| ()),
        None => first.await,
    }
}

pub struct Process(pub Manager, JoinHandle<operator_rs_runtime::Result<()>>, CancellationToken);

impl Process {
    /// A process that waits to lead.
    pub fn standby(cluster: &Cluster, world: &World) -> Self {
        let dead = CancellationToken::new();
        let mut manager = cluster.manager();
        manager.client = cluster.client_disconnected_by(&dead);
        manager.elected = CancellationToken::new();
        Self(manager.clone(), tokio::spawn(run(manager, world.clone())), dead)
    }

    pub fn start(cluster: &Cluster, world: &World) -> Self {
        let process = Self::standby(cluster, world);
        process.0.elected.cancel();
        process
    }

    pub async fn stop(self) {
        self.0.stop.cancel();
        self.1.await.unwrap().unwrap();
    }

    pub async fn crash(self) {
        self.2.cancel();
        self.1.abort();
        let _ = self.1.await;
    }
}
