//! The process around the controllers: flags, logs, probes, metrics, the Lease, and an orderly end.

use super::{
    Env, NAME, client, leader,
    metrics::Metrics,
    scope::{Namespace, WatchScope},
    server, shutdown,
    telemetry::{self, LogFormat},
    tls,
};
use clap::ArgAction;
use futures::future::{BoxFuture, FutureExt, try_join_all};
use std::{net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};
use tokio::time::sleep;
use tracing::{error, info, warn};

/// Flags under the names that kubebuilder's manager uses, so that manifests and habits carry over.
#[derive(clap::Args)]
pub struct Flags {
    /// Address of the metrics endpoint, e.g. ":8443"; "0" turns it off.
    #[arg(long, env, default_value = "0", value_parser = address)]
    metrics_bind_address: Address,

    /// Serve metrics over HTTPS, to authorized clients only.
    #[arg(long, env, default_value_t = true, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    metrics_secure: bool,

    /// Directory of the metrics certificate; one is made up if not set.
    #[arg(long, env)]
    metrics_cert_path: Option<PathBuf>,

    /// The certificate's file in that directory.
    #[arg(long, env, default_value = "tls.crt")]
    metrics_cert_name: String,

    /// The key's file in that directory.
    #[arg(long, env, default_value = "tls.key")]
    metrics_cert_key: String,

    /// Address of the /healthz and /readyz probes; "0" turns them off.
    #[arg(long, env, default_value = ":8081", value_parser = address)]
    health_probe_bind_address: Address,

    /// Hold a Lease before starting the controllers; needed with 2+ replicas.
    #[arg(long, env, default_value_t = false, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    leader_elect: bool,

    /// Comma-separated namespaces to watch; empty means all (set by OLM).
    #[arg(long, env, default_value = "")]
    watch_namespace: WatchScope,

    /// Reconciles that may run at once, per controller.
    #[arg(long, env, default_value_t = 8)]
    max_concurrent_reconciles: u16,

    /// The form of the log; RUST_LOG selects its levels.
    #[arg(long, env, value_enum, default_value = "text")]
    log_format: LogFormat,
}

/// Where to listen, if at all.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Address(Option<SocketAddr>);

/// Go's ":8443" and "0" as well as "127.0.0.1:8443".
fn address(s: &str) -> Result<Address, std::net::AddrParseError> {
    Ok(Address(match s {
        "0" | "" => None,
        s if s.starts_with(':') => Some(format!("0.0.0.0{s}").parse()?),
        s => Some(s.parse()?),
    }))
}

/// Starts a controller, once or once for each namespace.
pub type Start = Box<dyn Fn(&Env, &WatchScope) -> Vec<BoxFuture<'static, anyhow::Result<()>>>>;

/// A controller of a namespaced kind: one runs for each namespace that is watched.
pub fn per_namespace<F, Fut>(run: F) -> Start
where
    F: Fn(Env) -> Fut + 'static,
    Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    Box::new(move |env, scope| {
        let within = |namespace| run(Env { namespace, ..env.clone() }).boxed();
        scope.namespaces().into_iter().map(within).collect()
    })
}

/// A controller of a cluster-scoped kind: one runs, and its children may be in any namespace.
pub fn cluster_wide<F, Fut>(run: F) -> Start
where
    F: Fn(Env) -> Fut + 'static,
    Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    Box::new(move |env, _| vec![run(Env { namespace: Namespace::All, ..env.clone() }).boxed()])
}

/// Runs the operator until it is told to stop.
pub fn start(flags: Flags, controllers: Vec<Start>) -> ExitCode {
    telemetry::init(flags.log_format);
    // Two threads, however many cores the node has: an operator waits most of the time, and each
    // thread costs memory.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    match runtime.map_err(Into::into).and_then(|it| it.block_on(run(flags, controllers))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(flags: Flags, controllers: Vec<Start>) -> anyhow::Result<()> {
    let stop = shutdown::on_signal()?;
    let client = client::connect().await?;
    let metrics = Arc::new(Metrics::default());
    if let Address(Some(addr)) = flags.health_probe_bind_address {
        server::probes(addr, stop.clone()).await?;
    }
    if let Address(Some(addr)) = flags.metrics_bind_address {
        let files = flags
            .metrics_cert_path
            .map(|dir| tls::Files { cert: dir.join(flags.metrics_cert_name), key: dir.join(flags.metrics_cert_key) });
        let secure = flags.metrics_secure.then(|| (client.clone(), files));
        server::metrics(addr, secure, metrics.clone(), stop.clone()).await?;
    }

    let mut lease = None;
    if flags.leader_elect {
        let config = leader::Config::new(NAME, &client);
        match leader::acquire(client.clone(), config, stop.clone()).await? {
            Some(leading) => lease = Some(leading),
            None => return Ok(()), // told to stop while waiting
        }
    }

    let env = Env { metrics, stop: stop.clone(), concurrency: flags.max_concurrent_reconciles, ..Env::new(client) };
    let lost = lease.as_ref().map(|l| l.lost.clone()).unwrap_or_default();
    tokio::select! {
        done = run_all(&env, &flags.watch_namespace, controllers) => done?,
        () = lost.cancelled() => anyhow::bail!("lost the lease"),
        () = async { stop.cancelled().await; sleep(Duration::from_secs(3)).await } => {
            warn!("some reconciles did not end in time");
        }
    }
    // Only now: nothing is reconciled here any more.
    if let Some(lease) = lease {
        lease.release().await;
    }
    Ok(())
}

async fn run_all(env: &Env, scope: &WatchScope, controllers: Vec<Start>) -> anyhow::Result<()> {
    let running: Vec<_> = controllers.iter().flat_map(|start| start(env, scope)).collect();
    if running.is_empty() {
        info!("there are no controllers yet");
        env.stop.cancelled().await;
        return Ok(());
    }
    info!(?scope, controllers = running.len(), "starting");
    try_join_all(running).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn addresses_may_be_written_as_in_go() {
        let read = |s| address(s).unwrap().0.map(|it| it.to_string());
        assert_eq!(read("0"), None);
        assert_eq!(read(":8081").as_deref(), Some("0.0.0.0:8081"));
        assert_eq!(read("127.0.0.1:1").as_deref(), Some("127.0.0.1:1"));
        assert!(address("8081").is_err());
    }

    #[test]
    fn switches_may_be_written_as_in_go() {
        #[derive(clap::Parser)]
        struct Args {
            #[command(flatten)]
            flags: Flags,
        }
        let leads = |flag: &str| Args::parse_from(["manager", flag]).flags.leader_elect;
        assert!(leads("--leader-elect") && leads("--leader-elect=true") && !leads("--leader-elect=false"));
    }
}
