//! Leader election: of several replicas one works, the others wait. With client-go's numbers.

use super::lease::Elector;
use kube::Client;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::Mutex,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

/// The longest that one request may take.
const ATTEMPT: Duration = Duration::from_secs(5);

/// How often one that waits looks at the Lease: a leader that has ended well is followed as soon.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct Config {
    pub name: String,
    pub namespace: String,
    pub identity: String,
    pub lease_duration: Duration,
    pub renew_deadline: Duration,
    pub retry_period: Duration,
}

impl Config {
    pub fn new(name: &str, client: &Client) -> Self {
        let host = std::env::var("POD_NAME").or_else(|_| std::env::var("HOSTNAME"));
        Self {
            name: name.into(),
            namespace: client.default_namespace().into(), // the pod's own when in a cluster
            identity: format!("{}_{}", host.as_deref().unwrap_or("local"), std::process::id()),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

pub struct Leadership {
    /// Cancelled when the Lease could not be renewed in time: stop at once,
    /// for another replica may lead from now on.
    pub lost: CancellationToken,
    elector: Arc<Mutex<Elector>>,
    renewal: JoinHandle<()>,
}

impl Leadership {
    /// Frees the Lease, so that the next replica need not wait for it to expire.
    pub async fn release(self) {
        self.renewal.abort();
        let mut elector = self.elector.lock().await;
        let freed = timeout(Duration::from_secs(1), elector.write_free()).await;
        debug!(?freed, "released the lease");
    }
}

/// Waits until this process leads. `None` when `stop` came first.
///
/// What it needs of the API server is in `config/rbac/leader_election_role.yaml`.
pub async fn acquire(client: Client, config: Config, stop: CancellationToken) -> kube::Result<Option<Leadership>> {
    info!(lease = config.name, namespace = config.namespace, identity = config.identity, "waiting to lead");
    let mut elector = Elector::new(client, config);
    loop {
        match timeout(ATTEMPT, elector.try_hold()).await {
            Ok(Ok(true)) => break,
            Ok(Ok(false)) => {}
            Ok(Err(kube::Error::Api(e))) if e.is_forbidden() => return Err(kube::Error::Api(e)),
            Ok(Err(error)) => warn!(%error, "cannot acquire the lease"),
            Err(_) => warn!("cannot acquire the lease: timeout"),
        }
        let pause = elector.expires_in().map_or(LOOK, |left| left.min(LOOK));
        tokio::select! {
            () = sleep(pause + Duration::from_millis(10)) => {}
            () = stop.cancelled() => return Ok(None),
        }
    }
    info!("leading");
    let (elector, lost) = (Arc::new(Mutex::new(elector)), CancellationToken::new());
    let renewal = tokio::spawn(renew_until_lost(elector.clone(), lost.clone()));
    Ok(Some(Leadership { lost, elector, renewal }))
}

async fn renew_until_lost(elector: Arc<Mutex<Elector>>, lost: CancellationToken) {
    let config = elector.lock().await.config.clone();
    let mut renewed = Instant::now();
    while renewed.elapsed() < config.renew_deadline {
        sleep(config.retry_period.min(config.renew_deadline.saturating_sub(renewed.elapsed()))).await;
        // Others count from when they see the write, which is after its start.
        let start = Instant::now();
        let left = config.renew_deadline.saturating_sub(renewed.elapsed()).min(ATTEMPT);
        match timeout(left, async { elector.lock().await.try_hold().await }).await {
            Ok(Ok(true)) => renewed = start,
            Ok(Ok(false)) => break,
            Ok(Err(error)) => warn!(%error, "cannot renew the lease"),
            Err(_) => warn!("cannot renew the lease: timeout"),
        }
    }
    lost.cancel();
}
