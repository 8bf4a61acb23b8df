//! The certificate of an endpoint: read from files and again when they change, generated, or set by others.
//! rustls has no such resolver.

use crate::{
    certificate::{is_for, out_of_time},
    explain,
};
use anyhow::Context;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::{sync::watch, time::sleep};
use tokio_rustls::TlsAcceptor;

/// How often the certificate's files are looked at.
const CHECK: Duration = Duration::from_secs(10);

/// So many faults of one certificate are logged: clients can ask for any name.
const FAULTS: usize = 10;

/// Where the certificate is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The certificate, and those that vouch for it, as PEM.
    pub cert: PathBuf,
    /// Its key, as PEM.
    pub key: PathBuf,
}

impl Files {
    fn load(&self) -> anyhow::Result<CertifiedKey> {
        let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let pair = certified(&read(&self.cert)?, &read(&self.key)?);
        pair.with_context(|| format!("cannot use {} with {}", self.cert.display(), self.key.display()))
    }

    /// Secret volumes change by swapping a symlink; this follows it.
    fn modified(&self) -> Option<SystemTime> {
        std::fs::metadata(&self.cert).and_then(|m| m.modified()).ok()
    }
}

/// A certificate, with those that vouch for it, and its key, from PEM.
///
/// # Errors
/// If they cannot be read, or do not belong together.
pub fn certified(chain: &[u8], key: &[u8]) -> anyhow::Result<CertifiedKey> {
    let chain = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(key)?;
    Ok(CertifiedKey::from_der(chain, key, &ring::default_provider())?)
}

fn self_signed() -> anyhow::Result<CertifiedKey> {
    let host = std::env::var("POD_NAME").unwrap_or_else(|_| "localhost".into());
    let pair = rcgen::generate_simple_self_signed(vec![host])?;
    let key = PrivateKeyDer::try_from(pair.signing_key.serialize_der()).map_err(anyhow::Error::msg)?;
    Ok(CertifiedKey::from_der(vec![pair.cert.der().clone()], key, &ring::default_provider())?)
}

/// The certificate that is served, which may change. While there is none, no connection is made.
#[derive(Debug, Default)]
pub struct Current {
    served: watch::Sender<Option<Arc<CertifiedKey>>>,
    /// The file that has it, if somebody else has made it: then its faults are logged.
    file: Option<PathBuf>,
    /// The faults of the one that is served.
    logged: Mutex<BTreeSet<String>>,
}

impl Current {
    fn of(file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..Self::default() }
    }

    pub fn set(&self, key: CertifiedKey) {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.served.send_replace(Some(Arc::new(key)));
    }

    /// Logs that clients refuse the certificate at this time.
    fn check_time(&self, now: SystemTime) {
        let served = self.served.borrow().clone();
        let (Some(file), Some(certificate)) = (&self.file, served.as_ref().and_then(|it| it.cert.first())) else {
            return;
        };
        let file = file.display();
        if let Some((fault, hint)) = out_of_time(certificate, now)
            && self.is_new("the time")
        {
            tracing::warn!("the serving certificate in {file} {fault}, so clients refuse it: {hint}");
        }
    }

    /// Logs that a client which asks for this name refuses the certificate.
    fn check_name(&self, served: &CertifiedKey, name: &str) {
        let (Some(file), Some(certificate)) = (&self.file, served.cert.first()) else { return };
        let file = file.display();
        if !is_for(certificate, name) && self.is_new(name) {
            tracing::warn!(
                "the serving certificate in {file} is not valid for `{name}`, which a client asked for: if that is the name \
                 of the manager's Service, request a certificate for it"
            );
        }
    }

    fn is_new(&self, fault: &str) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        logged.len() < FAULTS && logged.insert(fault.to_owned())
    }

    /// Waits for the first one.
    #[cfg(any(feature = "admission", feature = "conversion"))]
    pub async fn is_set(&self) {
        let _ = self.served.subscribe().wait_for(Option::is_some).await;
    }

    /// Serves it.
    ///
    /// # Errors
    /// If no version of TLS is supported.
    pub fn acceptor(self: Arc<Self>) -> anyhow::Result<TlsAcceptor> {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(self);
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let served = self.served.borrow().clone()?;
        if let Some(name) = hello.server_name() {
            self.check_name(&served, name);
        }
        Some(served)
    }
}

async fn reload(files: Files, mut seen: Option<SystemTime>, current: Arc<Current>) {
    loop {
        sleep(CHECK).await;
        let at = files.modified();
        if at != seen {
            match files.load() {
                Ok(new) => {
                    current.set(new);
                    seen = at;
                    tracing::info!(cert = %files.cert.display(), "reloaded the serving certificate");
                }
                Err(error) => tracing::warn!(error = explain(error.as_ref()), "cannot reload the serving certificate"),
            }
        }
        current.check_time(SystemTime::now());
    }
}

/// Serves with the certificate in these files, or with one that is generated now.
///
/// # Errors
/// If the files cannot be read, or do not belong together.
pub fn acceptor(files: Option<Files>) -> anyhow::Result<TlsAcceptor> {
    let seen = files.as_ref().and_then(Files::modified); // before they are read
    let current = Arc::new(files.as_ref().map_or_else(Current::default, |it| Current::of(&it.cert)));
    current.set(match &files {
        Some(files) => files.load()?,
        None => self_signed()?,
    });
    current.check_time(SystemTime::now());
    if let Some(files) = files {
        tokio::spawn(reload(files, seen, current.clone()));
    }
    current.acceptor()
}

#[cfg(test)]
mod tests;
