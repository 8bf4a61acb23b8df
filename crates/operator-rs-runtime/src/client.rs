//! The Kubernetes client: who it says it is, how long it waits, how fast it asks, and what it counts.
//! kube has none of that by default: its requests wait without bound.

mod limited;
mod retry_after;

use crate::{Identity, explain, metrics::Metrics};
use anyhow::anyhow;
use kube::{Client, Config, client::ClientBuilder};
use std::{env::consts, error::Error, sync::Arc, time::Duration};
use tower::util::AndThenLayer;

pub use limited::WATCH_IDLE;

/// The limits on the time and the rate of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The longest that a request may take; a watch, until it begins.
    pub timeout: Duration,
    /// Requests a second, in the long run; 0 for any number. Those for Leases are not held up.
    pub qps: f64,
    /// Requests that may be made at once, where there is a limit; 0 for client-go's 10.
    pub burst: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), qps: 0.0, burst: 0 }
    }
}

/// A client from the pod's service account, or from `$KUBECONFIG`.
///
/// # Errors
/// If there is neither, or it cannot be used. The API server is not asked.
pub async fn connect(identity: Identity, limits: &Limits, metrics: &Arc<Metrics>) -> anyhow::Result<Client> {
    let config = Config::infer().await.map_err(|error| {
        // Of the two that were tried, the one that was meant.
        let in_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").and_then(|_| Config::incluster().err());
        let why = in_pod.map(|it| explain(&it)).or_else(|| error.source().map(explain)).unwrap_or_default();
        anyhow!("no Kubernetes cluster is configured: {}", why.replace(['\'', '"'], "`").replace("``", "`"))
    })?;
    with_config(config, identity, limits, metrics)
}

fn with_config(
    mut config: Config,
    identity: Identity,
    limits: &Limits,
    metrics: &Arc<Metrics>,
) -> anyhow::Result<Client> {
    config.headers.push((http::header::USER_AGENT, user_agent(identity).parse()?));
    // One retry policy, and one that shows in logs and metrics: the per-object backoff. kube's own
    // would hide 429s and hold a worker for minutes.
    config.default_retry = false;
    let host = config.cluster_url.authority().map(ToString::to_string).unwrap_or_default();
    let builder = ClientBuilder::try_from(config)?.with_layer(&limited::layer(host, limits, metrics));
    Ok(builder.with_layer(&AndThenLayer::new(retry_after::into_status)).build())
}

/// The namespace of the pod; outside of a cluster, that of the kubeconfig.
pub(crate) fn own_namespace(client: &Client) -> String {
    let pod = std::env::var("POD_NAMESPACE").ok().filter(|it| !it.is_empty());
    pod.unwrap_or_else(|| client.default_namespace().into())
}

/// `kubectl` and the audit log show this (kube sends none by itself).
pub fn user_agent(Identity { name, version }: Identity) -> String {
    let arch = match consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{name}/{version} ({}/{arch})", consts::OS)
}

#[cfg(test)]
mod tests;
