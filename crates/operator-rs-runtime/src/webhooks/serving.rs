//! The server of the webhooks in the process: its address, its certificate, and its end.

use super::{Keeper, Routes, Webhook};
use crate::{
    Manager,
    flag_values::Address,
    server::{self, Pages},
    tls::{self, Current},
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

/// For how long after the signal to stop requests can still come, because other nodes do not know of it yet.
const LAG: Duration = Duration::from_secs(5);
/// The least time for open responses to finish after the last reconciles.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// The server of the webhooks.
pub(crate) struct Server {
    serving: JoinHandle<()>,
    /// Ends when other nodes know that this process stops. Returns until when the last answers are waited for.
    lag: JoinHandle<Instant>,
    stop: CancellationToken,
    /// Cancelled when no new request is taken.
    ended: CancellationToken,
    grace: Duration,
}

/// Keeps the certificate that the operator makes for itself, if it does and serves webhooks. Returns what is served.
pub(crate) fn keep_certificate<'a>(
    flags: &crate::Flags,
    webhooks: impl Iterator<Item = &'a Webhook>,
    manager: &Manager,
) -> Option<Arc<Current>> {
    let mut webhooks = webhooks.peekable();
    webhooks.peek().filter(|_| flags.webhooks.enable_webhooks)?;
    let keeper = Keeper::new(&flags.webhooks, webhooks, manager)?;
    let (current, stop) = (keeper.current(), manager.stop.clone());
    tokio::spawn(async move { stop.run_until_cancelled(keeper.run()).await });
    Some(current)
}

/// Serves the webhooks, if there are any and the flags allow it. With a certificate of its own, the operator waits for it.
///
/// # Errors
/// If two have the same path, the port is taken, or the certificate cannot be read.
pub(crate) async fn serve(
    flags: &crate::Flags,
    webhooks: impl Iterator<Item = &Webhook>,
    manager: &Manager,
    own: Option<Arc<Current>>,
) -> anyhow::Result<Option<Server>> {
    let (routes, grace) = (Routes::new(webhooks, manager)?, flags.graceful_shutdown_timeout);
    let flags = &flags.webhooks;
    if routes.is_empty() || !flags.enable_webhooks {
        return Ok(None);
    }
    // The API server may need them to list what the caches hold.
    manager.readiness.ignore_caches();
    let starting = manager.readiness.expect("the webhooks to be served");
    let tls = match &own {
        Some(own) => own.clone().acceptor()?,
        None => tls::acceptor(Some(flags.certificate())).context(
            "the webhooks need a certificate: mount its Secret, name its directory by --webhook-cert-path, or run \
             without webhooks by --enable-webhooks=false",
        )?,
    };
    let any = [Ipv6Addr::UNSPECIFIED.into(), IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    let any = Address(any.map(|it| (it, flags.webhook_port).into()).to_vec());
    let (ended, stop) = (CancellationToken::new(), manager.stop.clone());
    let serving = server::serve(any, Pages::Webhooks(routes), Some(tls), ended.clone()).await?;
    if let Some(own) = own {
        manager.stop.run_until_cancelled(own.is_set()).await;
    }
    starting.ready();
    tracing::info!(port = flags.webhook_port, "serving webhooks");
    let lag = tokio::spawn(until_known(stop.clone(), grace));
    Ok(Some(Server { serving, lag, stop, ended, grace }))
}

/// Waits until other nodes know of the end, which `stop` begins. Returns when the time of grace is over.
async fn until_known(stop: CancellationToken, grace: Duration) -> Instant {
    stop.cancelled().await;
    let limit = Instant::now() + grace;
    sleep(LAG.min(grace)).await;
    limit
}

impl Server {
    /// Takes requests until other nodes know of the end, and ends when all are answered. Call it when the controllers
    /// have ended: the last reconciles may need the webhooks. If the process ends without a signal to stop, or fails,
    /// it takes no new request.
    pub async fn end(self, failed: bool) {
        let mut limit = Instant::now() + self.grace;
        if !failed && self.stop.is_cancelled() {
            limit = self.lag.await.unwrap_or(limit);
        }
        self.ended.cancel();
        let _ = timeout_at(limit.max(Instant::now() + LAST_ANSWERS), self.serving).await;
    }
}
