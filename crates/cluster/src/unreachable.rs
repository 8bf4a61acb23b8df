//! The error of a server that cannot be reached.

use std::{
    error::Error,
    fmt,
    io::{self, ErrorKind},
};

use kube::{client::AuthError, config::KubeconfigError};

use super::{interrupt::Interrupted, kubeconfig_errors};
use diagnostics::with_portable_system_errors;
use model::TimedOut;

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
pub(super) fn failure_reason(error: &kube::Error) -> String {
    let mut link: &(dyn Error + 'static) = error;
    loop {
        if let Some(error) = link.downcast_ref::<AuthError>() {
            return kubeconfig_errors::auth_reason(error);
        }
        if let Some(error) = link.downcast_ref::<KubeconfigError>() {
            return kubeconfig_errors::error_reason(error);
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
