//! Which API server, and as whom: what kubectl would take.

use std::{cell::RefCell, error::Error as _, fmt, path::PathBuf};

use anyhow::Context as _;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use super::{Cluster, Proxies, proxy};
use crate::hint::Hint as _;

/// Where to look for a cluster.
#[derive(Clone, Default)]
pub struct Target {
    /// The kubeconfig; none means `$KUBECONFIG`, `~/.kube/config`, or the pod's own account.
    pub kubeconfig: Option<PathBuf>,
    /// A context of it; none means its current one.
    pub context: Option<String>,
    pub proxies: Proxies,
}

impl Cluster {
    /// Connects; no request is sent yet.
    pub fn connect(target: &Target) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("starting to wait for a cluster")?;
        let mut config = runtime.block_on(config(target))?;
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let agent = concat!("operator-rs/", env!("CARGO_PKG_VERSION"));
        config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(agent)));
        // What is overloaded is asked again in `send`; a part of a server that is down is told at once.
        config.default_retry = false;
        let namespace = config.default_namespace.clone();
        let client = {
            let _entered = runtime.enter();
            Client::try_from(config).context("preparing the connection")?
        };
        Ok(Self { client, runtime, server, namespace, known: RefCell::default() })
    }
}

async fn config(target: &Target) -> anyhow::Result<Config> {
    let options = KubeConfigOptions { context: target.context.clone(), ..Default::default() };
    let kubeconfig = match &target.kubeconfig {
        // What its errors come from, they say themselves.
        Some(path) => Kubeconfig::read_from(path).map_err(|it| anyhow::format_err!("{it}"))?,
        None => match Kubeconfig::read() {
            Ok(it) => it,
            Err(_) if target.context.is_none() && Config::incluster_env().is_ok() => {
                return Config::incluster_env().context("reading the pod's service account");
            }
            Err(error) => {
                return Err(anyhow::format_err!("there is no cluster to talk to: {error}")).hint(
                    "set KUBECONFIG, or give `--kubeconfig FILE`; `operator-rs test` starts an API server of its own",
                );
            }
        },
    };
    if let Some(context) = &target.context
        && !kubeconfig.contexts.iter().any(|it| it.name == *context)
    {
        let names: Vec<&str> = kubeconfig.contexts.iter().map(|it| it.name.as_str()).collect();
        return Err(anyhow::format_err!("the kubeconfig has no context `{context}`"))
            .hint(format!("it has: {}", names.join(", ")));
    }
    let proxy = proxy::own(&kubeconfig, target.context.as_deref());
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = config.context("reading the kubeconfig")?;
    config.proxy_url = target.proxies.to(&config.cluster_url, proxy)?;
    Ok(config)
}

/// A server that could not be asked, and why.
#[derive(Debug)]
pub struct Unreachable {
    server: String,
    reason: String,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be asked: {}", self.server, self.reason)
    }
}

impl std::error::Error for Unreachable {}

/// What a failed request comes to: the innermost reason tells most.
pub(super) fn fault(error: &kube::Error, server: &str) -> anyhow::Error {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(it) = source {
        reason = it.to_string();
        source = it.source();
    }
    Unreachable { server: server.to_owned(), reason }.into()
}
