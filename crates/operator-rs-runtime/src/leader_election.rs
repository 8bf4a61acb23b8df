//! The settings of leader election: the Lease, this process's name among the candidates, and the times.

use crate::{client, metrics::Metrics};
use kube::Client;
use ring::rand::{SecureRandom, SystemRandom};
use std::{sync::Arc, time::Duration};

/// Leader election by a Lease, as in client-go: the Lease to hold, the name to hold it with, and the times.
///
/// `run_manager` does this for controllers of this crate. With kube's own `Controller`:
///
/// ```no_run
/// use operator_rs_runtime::{Error, LeaderElection};
/// use tokio_util::sync::CancellationToken;
///
/// async fn run(client: kube::Client, stop: CancellationToken) -> Result<(), Error> {
///     let election = LeaderElection::new("my-operator", &client);
///     let Some(leadership) = election.acquire(&client, &stop).await? else { return Ok(()) };
///     tokio::select! {
///         () = controller(client) => {}
///         () = leadership.lost() => std::process::exit(1), // another replica may lead from now on
///     }
///     leadership.release().await;
///     Ok(())
/// }
/// # async fn controller(_: kube::Client) {}
/// ```
///
/// The operator's role needs `get`, `create` and `update` on Leases in the namespace.
#[derive(Clone, Debug)]
pub struct LeaderElection {
    /// The Lease's name.
    pub name: String,
    /// The Lease's namespace.
    pub namespace: String,
    /// The name of this process among the candidates. It must be unique.
    pub identity: String,
    /// The time for which the other candidates wait for a leader that does not renew the Lease, in whole seconds.
    pub lease_duration: Duration,
    /// The time for which the leader tries to renew the Lease before it gives up. It is less than `lease_duration`.
    pub renew_deadline: Duration,
    /// The time between attempts.
    pub retry_period: Duration,
    pub(crate) metrics: Option<Arc<Metrics>>,
}

impl LeaderElection {
    /// Returns an election by a Lease in the namespace of the pod, with client-go's times.
    pub fn new(name: &str, client: &Client) -> Self {
        let var = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let host = var("POD_NAME").or_else(|| var("HOSTNAME")).unwrap_or_else(|| "local".into());
        Self {
            name: name.into(),
            namespace: client::own_namespace(client),
            // A restarted container has the same pod name, and maybe the same process id.
            identity: format!("{host}_{:016x}", random_id()),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
            metrics: None,
        }
    }

    /// Shows in these metrics whether this process leads: `leader_election_master_status`, as controller-runtime does.
    pub fn with_metrics(self, metrics: &Arc<Metrics>) -> Self {
        Self { metrics: Some(metrics.clone()), ..self }
    }

    /// Shows in the metrics whether this process leads.
    pub(crate) fn report_leading(&self, leads: bool) {
        if let Some(metrics) = &self.metrics {
            metrics.set_leader(&self.name, leads);
        }
    }

    /// Returns the time limit of one request, as in controller-runtime.
    pub(crate) fn request_timeout(&self) -> Duration {
        self.renew_deadline / 2
    }
}

fn random_id() -> u64 {
    let mut bytes = [0; 8];
    SystemRandom::new().fill(&mut bytes).expect("the system has random numbers");
    u64::from_ne_bytes(bytes)
}
