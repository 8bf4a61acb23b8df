//! Runs a `reconcile` function whenever an object, or one that belongs to it, changes. Built from
//! kube's stable parts (`watcher`, `applier`); it reads like kube's own `Controller`.

use super::{
    Action, Env, Failure,
    cache::{Children, Kind, Primary, Triggers, Watched},
    guard::Guarded,
    labels::{Labels, selector},
    text::Text,
    worker::Worker,
};
use futures::{FutureExt, StreamExt, stream};
use kube::{
    Api, Resource,
    api::ListParams,
    runtime::{
        applier,
        controller::{Config, Error as Applied},
        reflector::ObjectRef,
    },
};
use serde::Serialize;
use std::{
    future::ready,
    sync::Arc,
    time::{Duration, Instant},
};
use tracing::{debug, warn};

pub struct Controller<K: Kind> {
    env: Env,
    primary: Arc<Primary<K>>,
    triggers: Vec<Triggers<K>>,
    synced: Vec<tokio::sync::watch::Receiver<bool>>,
}

impl<K: Kind> Controller<K> {
    pub fn new(env: &Env) -> Self {
        let primary = Primary::new(env.client.clone());
        Self { env: env.clone(), primary, triggers: vec![], synced: vec![] }
    }

    /// The objects that are reconciled.
    pub fn primary(&self) -> Arc<Primary<K>> {
        self.primary.clone()
    }

    /// Watches the `C`s with these labels that the primary objects own. The cache of them is what
    /// `reconcile` should read, and write through.
    pub fn owns<C: Watched + Serialize>(&mut self, labels: &Labels) -> Arc<Children<C>> {
        self.watch(labels, |child: &Text<C>| {
            let mut owners = child.meta().owner_references.iter().flatten();
            let group = |version: &str| version.split_once('/').map(|(group, _)| group.to_owned()).unwrap_or_default();
            let is_ours = |kind: &str, version: &str| *kind == K::kind(&()) && group(version) == K::group(&());
            let owner = owners.find(|o| o.controller == Some(true) && is_ours(&o.kind, &o.api_version));
            owner.map(|o| o.name.clone())
        })
    }

    /// Watches other objects with these labels; `parent` names the primary object that one belongs
    /// to: one in the same namespace, or a cluster-scoped one. `PartialObjectMeta<C>` fetches
    /// metadata only.
    pub fn watches<C: Watched + Serialize>(
        &mut self,
        labels: &Labels,
        parent: impl Fn(&C) -> Option<String> + Send + Sync + 'static,
    ) -> Arc<Children<C>> {
        self.watch(labels, move |child| match child.decoded() {
            Ok(child) => parent(&child),
            Err(error) => {
                warn!(kind = %C::kind(&()), name = child.meta().name, %error, "cannot decode, skipped");
                None
            }
        })
    }

    fn watch<C: Watched + Serialize>(
        &mut self,
        labels: &Labels,
        parent: impl Fn(&Text<C>) -> Option<String> + Send + Sync + 'static,
    ) -> Arc<Children<C>> {
        let children = Children::new::<K>(self.env.client.clone(), parent);
        self.triggers.push(children.watch::<K>(self.env.namespace.api(&self.env.client), &selector(labels)));
        self.synced.push(children.synced());
        children
    }

    /// Reconciles until `env.stop`, then lets those in progress finish.
    pub async fn run<F, Fut, C, E>(mut self, reconcile: F, ctx: Arc<C>) -> anyhow::Result<()>
    where
        F: Fn(Arc<K>, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Action, E>> + Send + 'static,
        C: Send + Sync + 'static,
        E: Failure,
    {
        let api: Api<Guarded<K>> = self.env.namespace.api(&self.env.client);
        // Without this, a missing CRD or permission would only be a log line per retry.
        api.list_metadata(&ListParams::default().limit(1)).await.map_err(unlisted::<K>)?;
        self.triggers.push(self.primary.watch(api));
        let store = self.primary.store.clone();
        let stop = self.env.stop.clone();
        let config = Config::default().concurrency(self.env.concurrency).debounce(Duration::from_millis(100));
        let reconcile = move |obj| reconcile(obj, ctx.clone()).boxed();
        let worker = Arc::new(Worker::new(self.env, self.primary, self.synced, reconcile));
        let mut quiet_until = Instant::now();
        applier(
            |obj, worker: Arc<Worker<K, E>>| worker.work(obj).boxed(),
            |obj, error, worker| worker.retry(&obj, error),
            worker.clone(),
            store,
            stream::select_all(self.triggers).take_until(stop.cancelled_owned()),
            config,
        )
        .for_each(|result| {
            match result {
                Ok((obj, _)) => {
                    worker.succeeded(&obj);
                    debug!(%obj, "reconciled");
                }
                Err(Applied::ReconcilerFailed(..)) => {} // logged by retry()
                Err(Applied::ObjectNotFound(obj)) => {
                    let mut gone = ObjectRef::new(&obj.name);
                    gone.namespace = obj.namespace.clone();
                    worker.forget(&gone);
                }
                Err(error) if quiet_until <= Instant::now() => {
                    quiet_until = Instant::now() + Duration::from_secs(30); // not a line per watch and retry
                    warn!(%error, "watch interrupted, retrying");
                }
                Err(error) => debug!(%error, "watch interrupted, retrying"),
            }
            ready(())
        })
        .await;
        Ok(())
    }
}

/// Why a controller cannot begin, and the way out.
fn unlisted<K: Kind>(error: kube::Error) -> anyhow::Error {
    let (crd, version) = (format!("{}.{}", K::plural(&()), K::group(&())), K::version(&()));
    let why = match &error {
        kube::Error::Api(it) if it.code == 404 => format!(
            "the CRD `{crd}` is not installed, or does not serve {version}: `operator-rs install` in the project installs it"
        ),
        kube::Error::Api(it) if it.code == 403 => {
            format!("this account may not list `{crd}`: `operator-rs deploy` in the project installs its role")
        }
        _ => format!("cannot list `{crd}`"),
    };
    anyhow::Error::new(error).context(why)
}
