//! Decides when the controllers start, with or without the Lease, and when they end. kube-runtime leaves that to each
//! program.

use crate::{Manager, leader::Leadership, leader_election::LeaderElection, readiness::Pending};
use anyhow::anyhow;
use std::{pin::pin, time::Duration};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// The plan for the start and the end of the controllers.
pub struct Plan {
    /// The Lease to hold, if any.
    pub election: Option<LeaderElection>,
    /// The controllers start, and fill their caches, before the Lease is held.
    pub warm: bool,
    /// The time limit for running reconciles after the signal to stop.
    pub grace: Duration,
}

impl Plan {
    /// Runs the controllers until they end, and holds the Lease meanwhile.
    ///
    /// # Errors
    /// If a controller fails, or the Lease cannot be acquired or is lost.
    pub async fn run<F>(
        &self,
        manager: &Manager,
        starting: Pending,
        controllers: impl FnOnce() -> F,
    ) -> anyhow::Result<()>
    where
        F: Future<Output = anyhow::Result<()>>,
    {
        let (stop, give_up) = (&manager.stop, manager.stop.child_token());
        let mut running = Box::pin(async {
            let cold = self.election.is_some() && !self.warm;
            if cold && stop.run_until_cancelled(manager.elected.cancelled()).await.is_none() {
                return Ok(());
            }
            controllers().await
        });
        let mut acquire = pin!(async {
            starting.ready(); // the controllers have added their own pending parts by now
            match &self.election {
                Some(config) => self.acquire_lease(manager, config, give_up.clone()).await,
                None => Ok(None),
            }
        });
        let (done, acquired) = tokio::select! {
            biased;
            done = &mut running => {
                give_up.cancel();
                (Some(done), acquire.await) // the Lease may have been acquired just now
            }
            acquired = &mut acquire => (None, acquired),
        };
        let leadership = match (acquired, &done) {
            (Ok(leadership), _) => leadership,
            (Err(error), None) => return Err(error),
            (Err(_), Some(_)) => None,
        };
        if leadership.is_some() || self.election.is_none() {
            manager.elected.cancel();
        }
        let lost = leadership.as_ref().map(|leadership| leadership.lost.clone()).unwrap_or_default();
        let result = match done {
            Some(done) => done,
            None => tokio::select! {
                biased;
                () = lost.cancelled() => Err(anyhow!("lost the Lease: it could not be renewed in time")),
                done = &mut running => done,
                () = async { stop.cancelled().await; sleep(self.grace).await } => {
                    warn!("some reconciles did not end within {:?}", self.grace);
                    Ok(())
                }
            },
        };
        drop(running);
        // The Lease is released only now, because no reconcile runs here any more.
        if let Some(leadership) = leadership {
            leadership.release().await;
        }
        result
    }

    async fn acquire_lease(
        &self,
        manager: &Manager,
        config: &LeaderElection,
        stop: CancellationToken,
    ) -> anyhow::Result<Option<Leadership>> {
        let acquired = config.clone().with_metrics(&manager.metrics).acquire(&manager.client, &stop).await;
        acquired.map_err(|error| {
            let why = format!("cannot acquire the Lease `{}` in the namespace `{}`", config.name, config.namespace);
            anyhow::Error::new(error).context(why)
        })
    }
}
