//! The only module that talks to image registries, by the protocol of OCI's distribution specification.
//!
//! A registry is not trusted: every answer has a size limit and a time limit, digests are compared, and credentials go to
//! the registry that they are for and to the token server that it names, never along with a redirect. What a server
//! says is shown without secrets and cut short. What fails for a moment is tried again.

mod auth;
mod call;
mod client;
mod credentials;
mod fault;
mod pull;
mod push;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use credentials::{Credentials, Lookup, lookup, of_helper};
pub use fault::clean;
pub use push::Parts;

use client::Client;
use model::{Deadline, Image};

/// The settings of a connection to a registry.
#[derive(Clone)]
pub struct Access {
    /// The deadline of everything that waits for the registry, for the servers that it names, or between two attempts.
    pub deadline: Deadline,
    /// Speak HTTP without TLS.
    pub plain_http: bool,
    /// Accept any certificate.
    pub skip_verify: bool,
    /// Certificates in PEM, trusted in addition to the system's.
    pub ca: Option<Vec<u8>>,
    pub proxies: Proxies,
    pub credentials: Option<Credentials>,
}

/// The proxies in the environment.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    pub http: Option<String>,
    pub https: Option<String>,
    /// `NO_PROXY`
    pub none: String,
}

/// The permission to ask the registry for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    Pull,
    Push,
}

impl Right {
    fn scope(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "pull,push",
        }
    }
}

/// One repository of a registry.
pub struct Registry {
    client: Client,
    /// The registry's address, as people write it.
    name: String,
    repository: String,
    right: Right,
    credentials: Option<Credentials>,
    /// The `Authorization` of requests to the registry itself.
    authorization: Mutex<Option<String>>,
    /// Held by the request that gets another `Authorization`.
    renewal: Mutex<()>,
    /// The scheme and the address of the server.
    origin: OnceLock<String>,
    plain_http: bool,
}

impl Registry {
    /// The repository of an image; no request is sent yet.
    pub fn new(image: &Image, right: Right, access: Access) -> anyhow::Result<Self> {
        let Access { deadline, plain_http, skip_verify, ca, proxies, credentials } = access;
        Ok(Self {
            client: Client::new(deadline, skip_verify, ca.as_deref(), proxies)?,
            name: image.registry().to_owned(),
            repository: image.repository(),
            right,
            credentials,
            authorization: Mutex::default(),
            renewal: Mutex::default(),
            origin: OnceLock::new(),
            plain_http,
        })
    }

    /// The address of the server: Docker Hub's differs from the name.
    fn address(&self) -> &str {
        match &*self.name {
            "docker.io" => "registry-1.docker.io",
            other => other,
        }
    }

    fn url(&self, path: &str) -> anyhow::Result<String> {
        Ok(format!("{}/v2/{}/{path}", self.origin_url()?, self.repository))
    }
}

/// Locks a value that no panic can leave half-changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
