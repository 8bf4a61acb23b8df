//! The Kubernetes client, with a user agent, time limits, a rate limit and metrics. kube's client has none of them
//! by default: its requests wait without bound.

mod limited;
mod retry_after;

use crate::{Error, Identity, explain, metrics::Metrics};
use kube::{Client, Config, client::ClientBuilder};
use std::{error::Error as _, sync::Arc, time::Duration};
use tower::util::AndThenLayer;

#[cfg(test)]
use limited::WATCH_IDLE;

/// The limits on the time and the rate of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The time limit of a request. A watch has to begin within it.
    pub timeout: Duration,
    /// The number of requests a second, on average; 0 means no limit. Requests for Leases are not delayed.
    pub qps: f64,
    /// The number of requests that may be sent at once if `qps` is a limit; 0 means 10, as in client-go.
    pub burst: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), qps: 0.0, burst: 0 }
    }
}

/// Returns a client that uses the pod's service account or `$KUBECONFIG`.
///
/// # Errors
/// [`Error::Configuration`] if neither exists, or the one that exists cannot be used. No request is sent.
pub async fn connect(identity: Identity, limits: &Limits, metrics: &Arc<Metrics>) -> Result<Client, Error> {
    let config = Config::infer().await.map_err(|error| {
        // kube tries both configurations. The user wants to know why the one for this environment fails.
        let in_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").and_then(|_| Config::incluster().err());
        let why = in_pod.map(|error| explain(&error)).or_else(|| error.source().map(explain)).unwrap_or_default();
        Error::Configuration(format!(
            "no Kubernetes cluster is configured: {}",
            why.replace(['\'', '"'], "`").replace("``", "`")
        ))
    })?;
    with_config(config, identity, limits, metrics)
}

fn with_config(
    mut config: Config,
    identity: Identity,
    limits: &Limits,
    metrics: &Arc<Metrics>,
) -> Result<Client, Error> {
    let user_agent = identity
        .user_agent()
        .parse()
        .map_err(|_| Error::Configuration("the operator's name is not a valid user agent".into()))?;
    config.headers.push((http::header::USER_AGENT, user_agent));
    // The backoff of each object is the only retry policy, and it shows in logs and metrics. kube's own policy would
    // hide 429s and occupy a worker for minutes.
    config.default_retry = false;
    let host = config.cluster_url.authority().map(ToString::to_string).unwrap_or_default();
    let builder = ClientBuilder::try_from(config)?.with_layer(&limited::limit_layer(host, limits, metrics));
    Ok(builder.with_layer(&AndThenLayer::new(retry_after::copy_into_status)).build())
}

/// Returns the namespace of the pod, or outside of a cluster the namespace of the kubeconfig.
pub(crate) fn own_namespace(client: &Client) -> String {
    let pod = std::env::var("POD_NAMESPACE").ok().filter(|namespace| !namespace.is_empty());
    pod.unwrap_or_else(|| client.default_namespace().into())
}

#[cfg(test)]
mod tests;
