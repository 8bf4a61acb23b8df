//! Runs the process around the controllers: flags, logs, probes, metrics, the Lease, and an orderly shutdown.

mod plan;

#[cfg(any(feature = "admission", feature = "conversion"))]
use crate::webhook_server;
use crate::{
    Component, Flags, Identity, Manager,
    authorize::Authorizer,
    client, explain,
    metrics::Metrics,
    scope::WatchNamespaces,
    server::{self, Pages},
    shutdown, telemetry, tls,
};
use futures::stream::{FuturesUnordered, StreamExt};
use plan::Plan;
use std::{process::ExitCode, sync::Arc, time::Duration};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::{error, info};

/// Runs the controllers and webhooks until the process receives a signal to stop, or one of them fails. The last line
/// of the log gives the reason of a failure.
///
/// ```no_run
/// use operator_rs_runtime::{Flags, Manager, Result, controller_per_namespace, identity, run_manager};
/// use std::process::ExitCode;
///
/// async fn run(manager: Manager) -> Result<()> {
///     // …
/// #   drop(manager);
///     Ok(())
/// }
///
/// fn start(flags: Flags) -> ExitCode {
///     run_manager(identity!(), flags, [controller_per_namespace(run)])
/// }
/// ```
pub fn run_manager(identity: Identity, flags: Flags, parts: impl IntoIterator<Item = Component>) -> ExitCode {
    telemetry::init(flags.log_format, flags.dry_run);
    if let Err(why) = flags.check() {
        error!("{why}");
        return ExitCode::from(2); // as clap does for invalid flags
    }
    let result = build_runtime().map_err(Into::into).and_then(|runtime| {
        let result = runtime.block_on(run_process(identity, flags, parts.into_iter().collect()));
        // A task that blocks its thread must not delay the end of the process: another replica may lead by now.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{}", explain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// Returns the runtime of an operator. Two threads are enough, however many cores the node has: an operator waits most of
/// the time, and each thread costs memory.
///
/// A thread that always has a task to run looks for expired timers and responses only after `event_interval` tasks, by
/// default 61. If each is a reconcile that computes for 200 ms, this takes 12 s, and the Lease is not renewed in time.
fn build_runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).event_interval(1).enable_all().build()
}

async fn run_process(identity: Identity, flags: Flags, parts: Vec<Component>) -> anyhow::Result<()> {
    let stop = shutdown::on_signal()?;
    let metrics = Arc::new(Metrics::default());
    let client = client::connect(identity, &flags.limits(), &metrics).await?;
    let manager = Manager { settings: flags.settings(), metrics, stop, ..Manager::new(identity, client) };
    if flags.dry_run {
        return dry_run(manager.into_dry_run(), &flags.watch_namespace, &parts).await;
    }
    serve_until_stopped(&Manager { elected: CancellationToken::new(), ..manager }, &flags, &parts).await
}

/// Runs the controllers, and serves probes, metrics and webhooks as the flags say, until the operator stops or fails.
pub(crate) async fn serve_until_stopped(manager: &Manager, flags: &Flags, parts: &[Component]) -> anyhow::Result<()> {
    let (readiness, stop_servers) = (&manager.readiness, CancellationToken::new());
    let starting = readiness.expect("the controllers to start");
    #[cfg(any(feature = "admission", feature = "conversion"))]
    let own_certificate =
        webhook_server::keep_certificate(flags, parts.iter().filter_map(Component::as_webhook), manager);
    #[cfg(not(any(feature = "admission", feature = "conversion")))]
    let own_certificate: Option<Arc<tls::ServingCertificate>> = None;
    let mut servers = vec![];
    if !flags.health_probe_bind_address.0.is_empty() {
        let pages = Pages::Probes(readiness.clone());
        let address = flags.health_probe_bind_address.clone();
        servers.push(server::spawn_server(address, pages, None, stop_servers.clone()).await?);
    }
    if !flags.metrics_bind_address.0.is_empty() {
        let tls = match (flags.certificate(), own_certificate.clone()) {
            _ if !flags.metrics_secure => None,
            (None, Some(certificate)) => Some(certificate.into_acceptor()?),
            (files, _) => Some(tls::load_acceptor(files)?),
        };
        let authorizer = tls.is_some().then(|| Authorizer::new(manager.client.clone()).into());
        let pages = Pages::Metrics(manager.metrics.clone(), authorizer);
        let address = flags.metrics_bind_address.clone();
        servers.push(server::spawn_server(address, pages, tls, stop_servers.clone()).await?);
    }
    #[cfg(any(feature = "admission", feature = "conversion"))]
    let webhooks = parts.iter().filter_map(Component::as_webhook);
    #[cfg(any(feature = "admission", feature = "conversion"))]
    let webhooks = webhook_server::start_server(flags, webhooks, manager, own_certificate).await?;
    let election = flags.leader_elect.then(|| flags.lease(manager.identity.name, &manager.client));
    let plan = Plan { election, warm: flags.warm_standby, grace: flags.graceful_shutdown_timeout };
    let result = plan.run(manager, starting, || run_all(manager, &flags.watch_namespace, parts)).await;
    #[cfg(any(feature = "admission", feature = "conversion"))]
    if let Some(webhooks) = webhooks {
        webhooks.shut_down(result.is_err()).await;
    }
    stop_servers.cancel(); // the probes answer until the end
    for server in servers {
        let _ = timeout(Duration::from_secs(2), server).await;
    }
    result
}

/// Reconciles all objects once and prints the report, without a Lease and without servers.
async fn dry_run(manager: Manager, scope: &WatchNamespaces, parts: &[Component]) -> anyhow::Result<()> {
    if parts.iter().any(Component::is_controller) {
        run_all(&manager, scope, parts).await?;
    }
    let report = manager.dry_run.unwrap_or_default();
    println!("{report}");
    match report.failures() {
        0 => Ok(()),
        _ => Err(anyhow::anyhow!("the dry run has failed for the objects that its report names")),
    }
}

/// Runs all controllers until each has ended. If one fails, the others are stopped.
async fn run_all(manager: &Manager, scope: &WatchNamespaces, parts: &[Component]) -> anyhow::Result<()> {
    let mut running: FuturesUnordered<_> = parts.iter().flat_map(|part| part.controllers(manager, scope)).collect();
    if running.is_empty() {
        info!("there are no controllers yet");
        manager.stop.cancelled().await;
        return Ok(());
    }
    info!(%scope, controllers = running.len(), "starting");
    let mut result = Ok(());
    while let Some(done) = running.next().await {
        if done.is_err() {
            manager.stop.cancel();
        }
        result = result.and(done.map_err(|error| anyhow::anyhow!(error)));
    }
    result
}

#[cfg(test)]
mod tests;
