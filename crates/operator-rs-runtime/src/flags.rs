//! The flags of the process, under the names that kubebuilder and controller-runtime use, so that
//! manifests and habits carry over. Each is an environment variable, too.

use crate::{
    client::Limits,
    flag_values::{self, Address},
    leader,
    leader_election::LeaderElection,
    manager::Settings,
    scope::WatchNamespaces,
    telemetry::LogFormat,
    tls::Files,
};
use clap::ArgAction::Set;
use kube::Client;
use std::{path::PathBuf, time::Duration};

#[allow(missing_docs)] // clap would show them as the program's own: they are where it is exported
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// Address of the metrics endpoint; 0 turns it off
    #[arg(long, env, default_value = "0", value_name = "[IP]:PORT", value_parser = flag_values::address)]
    pub(crate) metrics_bind_address: Address,

    /// Serve metrics over HTTPS, to authorized clients only
    #[arg(long, env, default_value_t = true, action = Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) metrics_secure: bool,

    /// Directory of the metrics certificate; generated if not set
    #[arg(long, env, value_name = "DIR")]
    metrics_cert_path: Option<PathBuf>,

    /// File name of the metrics certificate
    #[arg(long, env, default_value = "tls.crt", value_name = "FILE")]
    metrics_cert_name: String,

    /// File name of the metrics key
    #[arg(long, env, default_value = "tls.key", value_name = "FILE")]
    metrics_cert_key: String,

    /// Address of /healthz and /readyz; 0 turns them off
    #[arg(long, env, default_value = ":8081", value_name = "[IP]:PORT", value_parser = flag_values::address)]
    pub(crate) health_probe_bind_address: Address,

    /// Reconcile only while holding a Lease (2 or more replicas)
    #[arg(long, env, default_value_t = false, action = Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) leader_elect: bool,

    /// Name of the Lease [default: the operator's name]
    #[arg(long, env, value_name = "NAME")]
    leader_election_id: Option<String>,

    /// Namespace of the Lease [default: the operator's]
    #[arg(long, env, value_name = "NAMESPACE")]
    leader_election_namespace: Option<String>,

    /// Time after which others replace a silent leader
    #[arg(long, env, default_value = "15s", value_name = "TIME", value_parser = flag_values::seconds)]
    leader_election_lease_duration: Duration,

    /// How long the leader tries to renew the Lease
    #[arg(long, env, default_value = "10s", value_name = "TIME", value_parser = flag_values::time)]
    leader_election_renew_deadline: Duration,

    /// Time between attempts to acquire or renew the Lease
    #[arg(long, env, default_value = "2s", value_name = "TIME", value_parser = flag_values::time)]
    leader_election_retry_period: Duration,

    /// Fill the caches before holding the Lease
    #[arg(long, env, default_value_t = true, action = Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) warm_standby: bool,

    /// Namespaces to watch; all if empty
    #[arg(long, env, default_value = "", value_name = "A,B", hide_default_value = true)]
    pub(crate) watch_namespace: WatchNamespaces,

    /// Concurrent reconciles of each controller
    #[arg(long, env, default_value_t = 8, value_name = "N", value_parser = flag_values::workers)]
    max_concurrent_reconciles: u16,

    /// Time limit of one reconcile
    #[arg(long, env, default_value = "1m", value_name = "TIME", value_parser = flag_values::time)]
    reconcile_timeout: Duration,

    /// Time for running reconciles to end after SIGTERM
    #[arg(long, env, default_value = "30s", value_name = "TIME", value_parser = flag_values::time_or_zero)]
    pub(crate) graceful_shutdown_timeout: Duration,

    /// Reconcile every object again after this time
    #[arg(long, env, default_value = "10h", value_name = "TIME", value_parser = flag_values::time)]
    sync_period: Duration,

    /// Time limit for filling the caches
    #[arg(long, env, default_value = "2m", value_name = "TIME", value_parser = flag_values::time)]
    cache_sync_timeout: Duration,

    /// Time limit of one request, watches excepted
    #[arg(long, env, default_value = "30s", value_name = "TIME", value_parser = flag_values::time)]
    kube_api_timeout: Duration,

    /// Requests to the API server per second; 0 for no limit
    #[arg(long, env, default_value_t = 0.0, value_name = "N", value_parser = flag_values::rate)]
    kube_api_qps: f64,

    /// Burst of requests with --kube-api-qps; 0 for 10
    #[arg(long, env, default_value_t = 0, value_name = "N")]
    kube_api_burst: u32,

    /// Reconcile each object once, write nothing, and print what would change
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Format of the log; RUST_LOG selects its levels
    #[arg(long, env, value_enum, default_value = "text", value_name = "text|json", hide_possible_values = true)]
    pub(crate) log_format: LogFormat,

    #[cfg(any(feature = "admission", feature = "conversion"))]
    #[command(flatten)]
    pub(crate) webhooks: crate::webhooks::WebhookFlags,
}

impl Flags {
    /// The settings of the controllers.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            max_concurrent_reconciles: self.max_concurrent_reconciles,
            reconcile_timeout: self.reconcile_timeout,
            sync_period: self.sync_period,
            cache_sync_timeout: self.cache_sync_timeout,
            ..Settings::default()
        }
    }

    /// The limits of the client.
    pub(crate) fn limits(&self) -> Limits {
        Limits { timeout: self.kube_api_timeout, qps: self.kube_api_qps, burst: self.kube_api_burst }
    }

    /// The paths of the metrics' certificate.
    pub(crate) fn certificate(&self) -> Option<Files> {
        let dir = self.metrics_cert_path.as_ref()?;
        Some(Files { cert: dir.join(&self.metrics_cert_name), key: dir.join(&self.metrics_cert_key) })
    }

    /// The Lease of an operator of this name.
    pub(crate) fn lease(&self, name: &str, client: &Client) -> LeaderElection {
        let name = self.leader_election_id.as_deref().filter(|id| !id.is_empty()).unwrap_or(name);
        let default = LeaderElection::new(name, client);
        LeaderElection {
            namespace: self
                .leader_election_namespace
                .clone()
                .filter(|namespace| !namespace.is_empty())
                .unwrap_or(default.namespace),
            lease_duration: self.leader_election_lease_duration,
            renew_deadline: self.leader_election_renew_deadline,
            retry_period: self.leader_election_retry_period,
            ..default
        }
    }

    /// Refuses flags that do not fit together, as client-go does.
    pub(crate) fn check(&self) -> Result<(), String> {
        leader::check_times(
            ("--leader-election-lease-duration", self.leader_election_lease_duration),
            ("--leader-election-renew-deadline", self.leader_election_renew_deadline),
            ("--leader-election-retry-period", self.leader_election_retry_period),
        )
    }
}

#[cfg(test)]
mod tests;
