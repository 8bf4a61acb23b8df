//! The life of a controller: its caches are filled, it waits until it leads, it reconciles, it ends.
//! kube's `Controller` reconciles from the start, waits for caches without a limit, and lets objects starve.

use super::Controller;
use crate::{
    Action, Failure,
    backoff::{Failures, jittered},
    cache::{Primary, Selection, Watched, key_of, object_ref},
    queue::Queue,
    worker::Worker,
};
use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use serde::Serialize;
use std::{sync::Arc, time::Duration};
use tokio::task::JoinSet;
use tracing::{Instrument, info, info_span};

impl<K: Watched + Serialize> Controller<K> {
    /// Fills the caches, waits until this process leads, and reconciles until the operator stops; then
    /// lets the reconciles that run finish. In a [dry run](crate::DryRun) it reconciles each object once, and ends.
    ///
    /// # Errors
    ///
    /// If a watched resource cannot be listed: at once if a permission or a CRD is missing, otherwise
    /// after `cache_sync_timeout`. If two controllers would delete each other's children: see [`Self::owns`].
    pub async fn run<F, Fut, C, E>(self, reconcile: F, ctx: Arc<C>) -> anyhow::Result<()>
    where
        F: Fn(Arc<K>, Arc<C>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Action, E>> + Send + 'static,
        C: Send + Sync + 'static,
        E: Failure,
    {
        self.need_rights();
        let prunes = 1 < Arc::strong_count(&self.owned);
        let add = |it: &Selection| self.operator.watches.owned.add(it, prunes);
        let _owned = self.selections.iter().map(add).collect::<Result<Vec<_>, _>>().map_err(anyhow::Error::msg)?;
        let Self { operator, name, primary, queue, tasks, synced, .. } = self;
        let (stop, leading) = (operator.stop.clone(), operator.leading.clone());
        let pending = operator.readiness.expect_caches(name.clone());
        let mut beside = JoinSet::new();
        tasks.into_iter().for_each(|it| drop(beside.spawn(it)));
        let limit = operator.settings.cache_sync_timeout;
        let listed = futures::future::try_join_all(
            synced.into_iter().map(|(resource, it)| async move { it.wait(&resource, limit).await }),
        );
        tokio::select! {
            listed = listed => listed.map(drop).map_err(anyhow::Error::msg)?,
            ended = ends(&mut beside) => return Err(ended),
            () = stop.cancelled() => return Ok(()),
        }
        pending.ready();
        info!(controller = name, objects = primary.store().len(), "caches are filled");
        tokio::select! {
            () = leading.cancelled() => {}
            ended = ends(&mut beside) => return Err(ended),
            () = stop.cancelled() => return Ok(()),
        }
        let period = operator.settings.sync_period;
        let worker = Arc::new(Worker {
            metrics: operator.metrics.controller(&name),
            primary: primary.clone(),
            reconcile: Arc::new(move |obj| reconcile(obj, ctx.clone()).boxed()),
            failures: Failures::new(&operator.settings.backoff),
            reports: Failures::new(&operator.settings.backoff),
            paused: Default::default(),
            operator,
        });
        if let Some(report) = worker.operator.dry_run.clone() {
            return tokio::select! {
                () = worker.dry_run(&report) => Ok(()),
                ended = ends(&mut beside) => Err(ended),
                () = stop.cancelled() => Ok(()),
            };
        }
        queue.open();
        add_all(&primary, &queue);
        beside.spawn(resync(primary.clone(), queue.clone(), period).map(Ok));
        let workers = match worker.operator.settings.max_concurrent_reconciles {
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
                    running.push(async move { (worker.work(&key).await, key) }.instrument(span));
                }
                Some((action, key)) = running.next() => queue.done(key, action.requeue_after),
                ended = ends(&mut beside) => return Err(ended),
                () = stop.cancelled(), if !is_stopped => {}
            }
        }
    }

    /// Registers the rights that reconciles may need, besides those of the caches.
    fn need_rights(&self) {
        let (rights, namespace) = (&self.operator.rights, self.operator.namespace.name());
        for need in &self.writes {
            need(rights, namespace, &["create", "patch"]);
            // Somebody else has it: a reconcile may prune.
            if 1 < Arc::strong_count(&self.owned) {
                need(rights, namespace, &["delete"]);
            }
        }
        if self.primary.reports_conditions() {
            rights.need::<K>("/status", namespace, &["patch"]);
        }
    }
}

/// Tasks that run as long as the controller have ended: by a panic, or for the reason that they give.
async fn ends(tasks: &mut JoinSet<Result<(), String>>) -> anyhow::Error {
    loop {
        match tasks.join_next().await {
            Some(Err(error)) => return anyhow::anyhow!("a task of the controller failed: {error}"),
            Some(Ok(Err(why))) => return anyhow::Error::msg(why),
            Some(Ok(Ok(()))) => {}
            None => futures::future::pending().await,
        }
    }
}

/// Reconciles everything again after the period, give or take 10 %.
async fn resync<K: Watched>(primary: Arc<Primary<K>>, queue: Arc<Queue>, period: Duration) {
    loop {
        tokio::time::sleep(jittered(period)).await;
        add_all(&primary, &queue);
    }
}

fn add_all<K: Watched>(primary: &Primary<K>, queue: &Queue) {
    primary.store().state().iter().for_each(|it| queue.add(&key_of(&**it)));
}
