//! Connects to an API server as one of its users.

use anyhow::Context as _;
use std::{
    cell::{Cell, RefCell},
    panic,
    time::Duration,
};

use kube::{Client, Config};

use super::{
    Cluster, executor::Executor, kubeconfig, kubeconfig_errors::INVALID_TOKEN, owner::Owner,
    plugin::Host, target::Target, unreachable::failure_reason,
};
use diagnostics::Hint as _;
use model::Deadline;

/// API servers end a request after a minute.
const RESPONSE_TIME_LIMIT: Duration = Duration::from_secs(90);

/// The inputs of a client whose credentials come from a plugin or a file.
pub struct Renewal {
    config: Config,
    host: Host,
}

impl Cluster {
    /// Connects and ignores KUBECONFIG; no request is sent yet.
    pub fn connect(target: &Target) -> anyhow::Result<Self> {
        Self::connect_with(target, None)
    }

    /// Connects, where `variable` is the value of KUBECONFIG; no request is sent yet.
    pub fn connect_with(target: &Target, variable: Option<&str>) -> anyhow::Result<Self> {
        let runtime = Executor::new()?;
        let config = runtime.block_on(kubeconfig::load_config(target, variable))?;
        let (mut resolved, server) = (config.clone(), server_address(&config));
        let is_renewable = target.host.resolve_credentials(&mut resolved, target.deadline);
        let is_renewable = is_renewable.with_context(|| format!("cannot connect to {server}"))?;
        let cluster = Self::with_config(runtime, resolved, target.deadline)?;
        let renewal = is_renewable.then_some(Renewal { config, host: target.host });
        Ok(Self { renewal, ..cluster })
    }

    /// Gets the credentials of the user's plugin or token file again. Returns whether there is one.
    pub(super) fn renew_credentials(&self) -> anyhow::Result<bool> {
        let Some(Renewal { config, host }) = &self.renewal else { return Ok(false) };
        let mut config = config.clone();
        host.resolve_credentials(&mut config, self.deadline.get())?;
        *self.client.borrow_mut() = build_client(&self.runtime, config)?;
        Ok(true)
    }

    /// A server without authentication.
    #[cfg(test)]
    pub(super) fn without_auth(url: &str) -> Self {
        let deadline = Deadline::after(RESPONSE_TIME_LIMIT);
        let config = Config::new(url.parse().unwrap());
        Self::with_config(Executor::new().unwrap(), config, deadline).unwrap()
    }

    fn with_config(runtime: Executor, config: Config, deadline: Deadline) -> anyhow::Result<Self> {
        let (server, namespace) = (server_address(&config), config.default_namespace.clone());
        Ok(Self {
            client: RefCell::new(build_client(&runtime, config)?),
            renewal: None,
            runtime,
            server,
            namespace,
            owner: Owner::default(),
            deadline: Cell::new(deadline),
            response_time_limit: RESPONSE_TIME_LIMIT,
            known_resources: RefCell::default(),
            discovery_sizes: RefCell::default(),
            listed_sizes: RefCell::default(),
            interrupt: RefCell::default(),
        })
    }
}

/// Builds a client.
fn build_client(runtime: &Executor, mut config: Config) -> anyhow::Result<Client> {
    let agent = concat!("operator-rs/", env!("CARGO_PKG_VERSION"));
    config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(agent)));
    // `send` retries where the server is overloaded; other errors are reported at once.
    config.default_retry = false;
    let _entered = runtime.enter();
    try_build_client(config)
        .map_err(|error| anyhow::format_err!("the connection cannot be set up: {error}"))
        .hint("`kubectl cluster-info` shows whether the kubeconfig itself works")
}

/// The client, or why it cannot be created.
fn try_build_client(config: Config) -> Result<Client, String> {
    // kube panics on a token that is not a valid HTTP header. The hook is silent while that may happen.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let client = panic::catch_unwind(panic::AssertUnwindSafe(|| Client::try_from(config)));
    panic::set_hook(hook);
    match client {
        Ok(client) => client.map_err(|error| failure_reason(&error)),
        Err(_) => Err(INVALID_TOKEN.to_owned()),
    }
}

/// The server's address without parts that may be secret: a user, a password, a query.
fn server_address(config: &Config) -> String {
    let url = &config.cluster_url;
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    let (scheme, host) = (url.scheme_str().unwrap_or("http"), url.host().unwrap_or_default());
    format!("{scheme}://{host}{port}{}", url.path().trim_end_matches('/'))
}
