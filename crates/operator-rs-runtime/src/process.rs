//! The process around the controllers: flags, logs, probes, metrics, the Lease, and an orderly shutdown.

mod plan;

#[cfg(any(feature = "admission", feature = "conversion"))]
use crate::webhooks;
use crate::{
    Flags, Identity, Operator, Start,
    authorize::Authorizer,
    client, explain,
    metrics::Metrics,
    scope::WatchScope,
    server::{self, Pages},
    shutdown, telemetry, tls,
};
use futures::stream::{FuturesUnordered, StreamExt};
use plan::Plan;
use std::{process::ExitCode, sync::Arc, time::Duration};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{error, info};

/// Runs the operator until it receives a signal to stop, or fails. The last line of the log says why
/// it failed.
///
/// ```no_run
/// # let flags: runtime::Flags = unimplemented!();
/// # async fn run(operator: runtime::Operator) -> anyhow::Result<()> { Ok(()) }
/// runtime::start(runtime::identity!(), flags, vec![runtime::per_namespace(run)]);
/// ```
pub fn start(identity: Identity, flags: Flags, parts: impl IntoIterator<Item = Start>) -> ExitCode {
    telemetry::init(flags.log_format, flags.dry_run);
    if let Err(why) = flags.check() {
        error!("{why}");
        return ExitCode::from(2); // as clap for flags that it refuses
    }
    // Two threads, however many cores the node has: an operator waits most of the time, and each
    // thread costs memory.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let result = runtime.map_err(Into::into).and_then(|runtime| {
        let result = runtime.block_on(run(identity, flags, parts.into_iter().collect()));
        // A task that blocks its thread must not delay the end: another replica may lead by now.
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

async fn run(identity: Identity, flags: Flags, parts: Vec<Start>) -> anyhow::Result<()> {
    let stop = shutdown::on_signal()?;
    let metrics = Arc::new(Metrics::default());
    let client = client::connect(identity, &flags.limits(), &metrics).await?;
    let operator = Operator { settings: flags.settings(), metrics, stop, ..Operator::new(identity, client) };
    if flags.dry_run {
        return dry_run(operator.into_dry_run(), &flags.watch_namespace, &parts).await;
    }
    serve(&Operator { leading: CancellationToken::new(), ..operator }, &flags, &parts).await
}

/// Runs the controllers, and serves what the flags say, until the operator stops or fails.
pub(crate) async fn serve(operator: &Operator, flags: &Flags, parts: &[Start]) -> anyhow::Result<()> {
    let (readiness, served) = (&operator.readiness, CancellationToken::new());
    let starting = readiness.expect("the controllers to start");
    #[cfg(any(feature = "admission", feature = "conversion"))]
    let own = webhooks::keep_certificate(flags, parts.iter().filter_map(Start::webhook), operator);
    #[cfg(not(any(feature = "admission", feature = "conversion")))]
    let own: Option<Arc<tls::Current>> = None;
    let mut servers = vec![];
    if !flags.health_probe_bind_address.0.is_empty() {
        let pages = Pages::Probes(readiness.clone());
        servers.push(server::serve(flags.health_probe_bind_address.clone(), pages, None, served.clone()).await?);
    }
    if !flags.metrics_bind_address.0.is_empty() {
        let tls = match (flags.certificate(), own.clone()) {
            _ if !flags.metrics_secure => None,
            (None, Some(own)) => Some(own.acceptor()?),
            (files, _) => Some(tls::acceptor(files)?),
        };
        let authorizer = tls.is_some().then(|| Authorizer::new(operator.client.clone()).into());
        let pages = Pages::Metrics(operator.metrics.clone(), authorizer);
        servers.push(server::serve(flags.metrics_bind_address.clone(), pages, tls, served.clone()).await?);
    }
    #[cfg(any(feature = "admission", feature = "conversion"))]
    let webhooks = webhooks::serve(flags, parts.iter().filter_map(Start::webhook), operator, own).await?;
    let election = flags.leader_elect.then(|| flags.lease(operator.identity.name, &operator.client));
    let plan = Plan { election, warm: flags.warm_standby, grace: flags.graceful_shutdown_timeout };
    let result = plan.run(operator, starting, || run_all(operator, &flags.watch_namespace, parts)).await;
    #[cfg(any(feature = "admission", feature = "conversion"))]
    if let Some(webhooks) = webhooks {
        webhooks.end(result.is_err()).await;
    }
    served.cancel(); // the probes answer until the end
    for server in servers {
        let _ = timeout(Duration::from_secs(2), server).await;
    }
    result
}

/// One pass over all objects, and the report. It takes no Lease, and serves nothing.
async fn dry_run(operator: Operator, scope: &WatchScope, parts: &[Start]) -> anyhow::Result<()> {
    if parts.iter().any(Start::is_controller) {
        run_all(&operator, scope, parts).await?;
    }
    let report = operator.dry_run.unwrap_or_default();
    println!("{report}");
    match report.failures() {
        0 => Ok(()),
        _ => Err(anyhow::anyhow!("the dry run has failed for the objects that its report names")),
    }
}

/// Runs all controllers until each has ended. If one fails, the others are stopped.
async fn run_all(operator: &Operator, scope: &WatchScope, parts: &[Start]) -> anyhow::Result<()> {
    let mut running: FuturesUnordered<_> = parts.iter().flat_map(|it| it.controllers(operator, scope)).collect();
    if running.is_empty() {
        info!("there are no controllers yet");
        operator.stop.cancelled().await;
        return Ok(());
    }
    info!(%scope, controllers = running.len(), "starting");
    let mut result = Ok(());
    while let Some(done) = running.next().await {
        if done.is_err() {
            operator.stop.cancel();
        }
        result = result.and(done);
    }
    result
}

#[cfg(test)]
mod tests;
