//! Starts and shuts down the server of the webhooks, and chooses its certificate.

use crate::{
    Flags, Manager,
    flag_values::Address,
    server::{self, Pages},
    tls::{self, ServingCertificate},
    webhooks::{CertificateKeeper, Routes, Webhook},
};
use anyhow::Context;
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout_at},
};
use tokio_util::sync::CancellationToken;

/// The time after the signal to stop in which new requests still arrive, because other nodes do not know of it yet.
const ENDPOINT_LAG: Duration = Duration::from_secs(5);
/// The minimum time for open responses to finish after the last reconciles.
const LAST_RESPONSES: Duration = Duration::from_secs(2);

/// The server of the webhooks.
pub(crate) struct WebhookServer {
    serving: JoinHandle<()>,
    /// Ends when other nodes know that this process stops. Returns the time until which the last responses may take.
    endpoint_lag: JoinHandle<Instant>,
    stop: CancellationToken,
    /// Cancelled to accept no more requests.
    stop_accepting: CancellationToken,
    grace: Duration,
}

/// Starts to keep the certificate that the operator makes for itself, if the flags say so and it serves webhooks.
/// Returns the serving certificate.
pub(crate) fn keep_certificate<'a>(
    flags: &Flags,
    webhooks: impl Iterator<Item = &'a Webhook>,
    manager: &Manager,
) -> Option<Arc<ServingCertificate>> {
    let mut webhooks = webhooks.peekable();
    webhooks.peek().filter(|_| flags.webhooks.enable_webhooks)?;
    let keeper = CertificateKeeper::new(&flags.webhooks, webhooks, manager)?;
    let (certificate, stop) = (keeper.serving_certificate(), manager.stop.clone());
    tokio::spawn(async move { stop.run_until_cancelled(keeper.run()).await });
    Some(certificate)
}

/// Starts to serve the webhooks, if there are any and the flags allow it. If the operator makes its own certificate,
/// this waits until it is set.
///
/// # Errors
/// If two webhooks have the same path, the port is taken, or the certificate cannot be read.
pub(crate) async fn start_server(
    flags: &Flags,
    webhooks: impl Iterator<Item = &Webhook>,
    manager: &Manager,
    own_certificate: Option<Arc<ServingCertificate>>,
) -> anyhow::Result<Option<WebhookServer>> {
    let (routes, grace) = (Routes::new(webhooks, manager)?, flags.graceful_shutdown_timeout);
    let flags = &flags.webhooks;
    if routes.is_empty() || !flags.enable_webhooks {
        return Ok(None);
    }
    // The API server may need the webhooks to list the objects for the caches.
    manager.readiness.ignore_caches();
    let starting = manager.readiness.expect("the webhooks to be served");
    let tls = match &own_certificate {
        Some(certificate) => certificate.clone().into_acceptor()?,
        None => tls::load_acceptor(Some(flags.certificate_files())).context(
            "the webhooks need a certificate: mount its Secret, name its directory by --webhook-cert-path, or run \
             without webhooks by --enable-webhooks=false",
        )?,
    };
    let any = [Ipv6Addr::UNSPECIFIED.into(), IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    let any = Address(any.map(|ip| (ip, flags.webhook_port).into()).to_vec());
    let (stop_accepting, stop) = (CancellationToken::new(), manager.stop.clone());
    let serving = server::spawn_server(any, Pages::Webhooks(routes), Some(tls), stop_accepting.clone()).await?;
    if let Some(certificate) = own_certificate {
        manager.stop.run_until_cancelled(certificate.wait_until_set()).await;
    }
    starting.ready();
    tracing::info!(port = flags.webhook_port, "serving webhooks");
    let endpoint_lag = tokio::spawn(wait_for_endpoints(stop.clone(), grace));
    Ok(Some(WebhookServer { serving, endpoint_lag, stop, stop_accepting, grace }))
}

/// Waits until `stop` is cancelled and other nodes know of it. Returns the end of the grace period.
async fn wait_for_endpoints(stop: CancellationToken, grace: Duration) -> Instant {
    stop.cancelled().await;
    let limit = Instant::now() + grace;
    sleep(ENDPOINT_LAG.min(grace)).await;
    limit
}

impl WebhookServer {
    /// Accepts requests until other nodes know that this process stops, and ends when all are answered. Call it when
    /// the controllers have ended: the last reconciles may need the webhooks. If the process ends without a signal to
    /// stop, or fails, the server accepts no new requests.
    pub async fn shut_down(self, failed: bool) {
        let mut limit = Instant::now() + self.grace;
        if !failed && self.stop.is_cancelled() {
            limit = self.endpoint_lag.await.unwrap_or(limit);
        }
        self.stop_accepting.cancel();
        let _ = timeout_at(limit.max(Instant::now() + LAST_RESPONSES), self.serving).await;
    }
}
