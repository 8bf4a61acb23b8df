//! Connects to an API server as one of its users.

use anyhow::Context as _;
use std::{
    cell::{Cell, RefCell},
    error::Error,
    fmt,
    io::{self, ErrorKind},
    panic,
    path::PathBuf,
};

use kube::{Client, Config, client::AuthError, config::KubeconfigError};

use super::{
    Cluster, Interrupted, Proxies, executor::Executor, kubeconfig, owner::Owner, plugin::Host,
    request::RESPONSE_TIME_LIMIT,
};
use diagnostics::{Hint as _, with_portable_system_errors};
use model::{Deadline, TimedOut};

/// The cluster to connect to, and the limits of the connection.
#[derive(Clone)]
pub struct Target {
    /// The kubeconfig; none means `$KUBECONFIG`, `~/.kube/config`, or the pod's service account.
    pub kubeconfig: Option<PathBuf>,
    /// `~/.kube/config`, if there is a home directory.
    pub kubeconfig_in_home: Option<PathBuf>,
    /// A context of the kubeconfig; none means its current one.
    pub context: Option<String>,
    pub proxies: Proxies,
    /// The deadline of everything that waits for the cluster.
    pub deadline: Deadline,
    pub host: Host,
}

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
        Err(_) => Err(kubeconfig::INVALID_TOKEN.to_owned()),
    }
}

/// The server's address without parts that may be secret: a user, a password, a query.
fn server_address(config: &Config) -> String {
    let url = &config.cluster_url;
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    let (scheme, host) = (url.scheme_str().unwrap_or("http"), url.host().unwrap_or_default());
    format!("{scheme}://{host}{port}{}", url.path().trim_end_matches('/'))
}

/// A server that could not be reached, and why.
#[derive(Debug)]
pub struct Unreachable {
    server: String,
    reason: String,
    /// True if the server accepted a connection and closed it before it responded.
    pub(super) is_closed: bool,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect to {}: {}", self.server, self.reason)
    }
}

impl Error for Unreachable {}

impl Unreachable {
    pub(super) fn new(server: &str, reason: impl Into<String>) -> Self {
        let reason = with_portable_system_errors(&reason.into()).into_owned();
        Self { server: server.to_owned(), reason, is_closed: false }
    }
}

/// Returns whether every further request would fail, too.
pub(super) fn is_final(error: &anyhow::Error) -> bool {
    error.is::<Unreachable>() || error.is::<Interrupted>() || error.is::<TimedOut>()
}

/// Returns the error of a request that got no response.
pub(super) fn unreachable_error(error: &kube::Error, server: &str) -> anyhow::Error {
    let is_closed = is_closed_connection(error);
    Unreachable { is_closed, ..Unreachable::new(server, failure_reason(error)) }.into()
}

/// Returns whether the server, or a proxy before it, closed the connection in place of a response.
fn is_closed_connection(error: &kube::Error) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        let is_closed =
            match (error.downcast_ref::<hyper::Error>(), error.downcast_ref::<io::Error>()) {
                (Some(error), _) => error.is_incomplete_message(),
                (None, Some(error)) => {
                    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
                }
                (None, None) => false,
            };
        if is_closed {
            return true;
        }
        next = error.source();
    }
    false
}

/// Returns why there is no response, without anything of the kubeconfig's content. The innermost network error is the most precise.
fn failure_reason(error: &kube::Error) -> String {
    let mut link: &(dyn Error + 'static) = error;
    loop {
        if let Some(error) = link.downcast_ref::<AuthError>() {
            return kubeconfig::auth_reason(error);
        }
        if let Some(error) = link.downcast_ref::<KubeconfigError>() {
            return kubeconfig::error_reason(error);
        }
        match link.source() {
            Some(next) => link = next,
            None => break,
        }
    }
    match error {
        kube::Error::Service(_) | kube::Error::HyperError(_) => link.to_string(),
        kube::Error::RustlsTls(_) => {
            "the certificates and the key of the kubeconfig cannot be used for TLS".to_owned()
        }
        kube::Error::ProxyProtocolUnsupported { .. }
        | kube::Error::ProxyProtocolDisabled { .. } => {
            "its proxy is neither an `http://` nor an `https://` URL".to_owned()
        }
        _ => "the kubeconfig does not describe a usable connection".to_owned(),
    }
}
