//! The life of a controller: its caches are filled, it waits until it leads, it reconciles, it ends.
//! kube's `Controller` reconciles from the start, waits for caches without a limit, and lets objects starve.

use super::Controller;
use crate::{
    Action, Error, ReconcileError,
    backoff::{Failures, jittered},
    cache::{PrimaryCache, Selection, Watchable, key_of, object_ref},
    queue::FairQueue,
    worker::Worker,
};
use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use serde::Serialize;
use std::{sync::Arc, time::Duration};
use tokio::task::JoinSet;
use tracing::{Instrument, info, info_span};

impl<K: Watchable + Serialize> Controller<K> {
    /// Fills the caches, waits until this process leads, and reconciles until the operator stops; then it waits for the
    /// running reconciles to finish. Each reconcile gets a clone of `context`: a handle, a struct of handles, or an
    /// `Arc` of anything. In a [dry run](crate::DryRun) it reconciles each object once, and ends.
    ///
    /// # Errors
    ///
    /// [`Error::ControllerFailed`] if a watched resource cannot be listed: at once if a permission or a CRD is missing,
    /// otherwise after `cache_sync_timeout`; and if two controllers would delete the dependents of each other, see
    /// [`owns`](Self::owns).
    pub async fn run<F, Fut, C, E>(self, reconcile: F, context: C) -> Result<(), Error>
    where
        F: Fn(Arc<K>, C) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Action, E>> + Send + 'static,
        C: Clone + Send + Sync + 'static,
        E: ReconcileError,
    {
        self.need_permissions();
        let prunes = self.dependents.is_shared();
        let add = |it: &Selection| self.manager.watches.owned.add(it, prunes);
        let _owned = self.selections.iter().map(add).collect::<Result<Vec<_>, _>>().map_err(Error::ControllerFailed)?;
        let Self { manager, name, primary, queue, tasks, synced, .. } = self;
        let (stop, elected) = (manager.stop.clone(), manager.elected.clone());
        let pending = manager.readiness.expect_caches(name.clone());
        let mut beside = JoinSet::new();
        tasks.into_iter().for_each(|task| drop(beside.spawn(task)));
        let limit = manager.settings.cache_sync_timeout;
        let listed = futures::future::try_join_all(
            synced.into_iter().map(|(resource, it)| async move { it.wait(&resource, limit).await }),
        );
        tokio::select! {
            listed = listed => listed.map(drop).map_err(Error::ControllerFailed)?,
            ended = first_failure(&mut beside) => return Err(ended),
            () = stop.cancelled() => return Ok(()),
        }
        pending.ready();
        info!(controller = name, objects = primary.store().len(), "caches are filled");
        tokio::select! {
            () = elected.cancelled() => {}
            ended = first_failure(&mut beside) => return Err(ended),
            () = stop.cancelled() => return Ok(()),
        }
        let period = manager.settings.sync_period;
        let worker = Arc::new(Worker {
            metrics: manager.metrics.controller(&name),
            primary: primary.clone(),
            reconcile: Arc::new(move |obj| reconcile(obj, context.clone()).boxed()),
            failures: Failures::new(&manager.settings.backoff),
            reports: Failures::new(&manager.settings.backoff),
            paused: Default::default(),
            manager,
        });
        if let Some(report) = worker.manager.dry_run.clone() {
            return tokio::select! {
                () = worker.dry_run(&report) => Ok(()),
                ended = first_failure(&mut beside) => Err(ended),
                () = stop.cancelled() => Ok(()),
            };
        }
        queue.open();
        add_all(&primary, &queue);
        beside.spawn(resync_periodically(primary.clone(), queue.clone(), period).map(Ok));
        let workers = match worker.manager.settings.max_concurrent_reconciles {
            0 => usize::MAX,
            workers => workers.into(),
        };
        let mut running = FuturesUnordered::new();
        loop {
            let is_stopped = stop.is_cancelled();
            if is_stopped && running.is_empty() {
                return Ok(());
            }
            tokio::select! {
                key = queue.next(), if !is_stopped && running.len() < workers => {
                    let span = info_span!("reconciling object", object.ref = %object_ref::<K>(&key));
                    let worker = worker.clone();
                    running.push(async move { (worker.reconcile_key(&key).await, key) }.instrument(span));
                }
                Some((action, key)) = running.next() => queue.done(key, action.requeue_after),
                ended = first_failure(&mut beside) => return Err(ended),
                () = stop.cancelled(), if !is_stopped => {}
            }
        }
    }

    /// Registers the permissions that reconciles may need, besides those of the caches.
    fn need_permissions(&self) {
        let (permissions, namespace) = (&self.manager.permissions, self.manager.namespace.name());
        for need in &self.writes {
            need(permissions, namespace, &["create", "patch"]);
            // The reconcile function has the handle, so it may prune.
            if self.dependents.is_shared() {
                need(permissions, namespace, &["delete"]);
            }
        }
        if self.primary.reports_conditions() {
            permissions.require_verbs::<K>("/status", namespace, &["patch"]);
        }
    }
}

/// Tasks that run as long as the controller have ended: by a panic, or for the reason that they give.
async fn first_failure(tasks: &mut JoinSet<Result<(), String>>) -> Error {
    loop {
        match tasks.join_next().await {
            Some(Err(error)) => return Error::ControllerFailed(format!("a task of the controller failed: {error}")),
            Some(Ok(Err(why))) => return Error::ControllerFailed(why),
            Some(Ok(Ok(()))) => {}
            None => futures::future::pending().await,
        }
    }
}

/// Reconciles everything again after the period, give or take 10 %.
async fn resync_periodically<K: Watchable>(primary: Arc<PrimaryCache<K>>, queue: Arc<FairQueue>, period: Duration) {
    loop {
        tokio::time::sleep(jittered(period)).await;
        add_all(&primary, &queue);
    }
}

fn add_all<K: Watchable>(primary: &PrimaryCache<K>, queue: &FairQueue) {
    primary.store().state().iter().for_each(|object| queue.add(&key_of(&**object)));
}
