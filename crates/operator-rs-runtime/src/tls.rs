//! The serving certificate of an endpoint. It is read from files, and again when they change, or generated, or set by
//! another module. rustls has no such resolver.

use crate::{
    certificate::{is_valid_for, time_fault},
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

/// The time between checks of the certificate's files.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// The maximum number of logged faults of one certificate. Clients can ask for any name, so there has to be a limit.
const MAX_FAULTS: usize = 10;

/// The files of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The certificate and its chain, as PEM.
    pub cert: PathBuf,
    /// The key of the certificate, as PEM.
    pub key: PathBuf,
}

impl Files {
    fn load(&self) -> anyhow::Result<CertifiedKey> {
        let read = |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        let pair = parse_pair(&read(&self.cert)?, &read(&self.key)?);
        pair.with_context(|| format!("cannot use {} with {}", self.cert.display(), self.key.display()))
    }

    /// Returns the time of the last change. It follows symlinks, because Secret volumes change by swapping a symlink.
    fn modification_time(&self) -> Option<SystemTime> {
        std::fs::metadata(&self.cert).and_then(|metadata| metadata.modified()).ok()
    }
}

/// Parses the PEM of a certificate chain and of its key.
///
/// # Errors
/// If they cannot be read, or do not belong together.
pub fn parse_pair(chain: &[u8], key: &[u8]) -> anyhow::Result<CertifiedKey> {
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

/// The serving certificate, which may change. As long as none is set, no client can connect.
#[derive(Debug, Default)]
pub struct ServingCertificate {
    served: watch::Sender<Option<Arc<CertifiedKey>>>,
    /// The file of a certificate that this process has not made. The faults of such a certificate are logged.
    file: Option<PathBuf>,
    /// The logged faults of the current certificate.
    logged: Mutex<BTreeSet<String>>,
}

impl ServingCertificate {
    fn from_file(file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..Self::default() }
    }

    pub fn set_key(&self, key: CertifiedKey) {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.served.send_replace(Some(Arc::new(key)));
    }

    /// Logs a fault if clients refuse the certificate at this time.
    fn check_time(&self, now: SystemTime) {
        let served = self.served.borrow().clone();
        let (Some(file), Some(certificate)) = (&self.file, served.as_ref().and_then(|key| key.cert.first())) else {
            return;
        };
        let file = file.display();
        if let Some((fault, hint)) = time_fault(certificate, now)
            && self.is_new_fault("the time")
        {
            tracing::warn!("the serving certificate in {file} {fault}, so clients refuse it: {hint}");
        }
    }

    /// Logs a fault if a client that asks for this name refuses the certificate.
    fn check_name(&self, served: &CertifiedKey, name: &str) {
        let (Some(file), Some(certificate)) = (&self.file, served.cert.first()) else { return };
        let file = file.display();
        if !is_valid_for(certificate, name) && self.is_new_fault(name) {
            tracing::warn!(
                "the serving certificate in {file} is not valid for `{name}`, which a client asked for: if that is the name \
                 of the manager's Service, request a certificate for it"
            );
        }
    }

    /// Returns true if a fault is to be logged now.
    fn is_new_fault(&self, fault: &str) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        logged.len() < MAX_FAULTS && logged.insert(fault.to_owned())
    }

    /// Waits until a certificate is set.
    #[cfg(any(feature = "admission", feature = "conversion"))]
    pub async fn wait_until_set(&self) {
        let _ = self.served.subscribe().wait_for(Option::is_some).await;
    }

    /// Returns a TLS acceptor that serves the certificate.
    ///
    /// # Errors
    /// If no version of TLS is supported.
    pub fn into_acceptor(self: Arc<Self>) -> anyhow::Result<TlsAcceptor> {
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(self);
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

impl ResolvesServerCert for ServingCertificate {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let served = self.served.borrow().clone()?;
        if let Some(name) = hello.server_name() {
            self.check_name(&served, name);
        }
        Some(served)
    }
}

async fn reload_on_change(files: Files, mut loaded: Option<SystemTime>, certificate: Arc<ServingCertificate>) {
    loop {
        sleep(CHECK_INTERVAL).await;
        let modified = files.modification_time();
        if modified != loaded {
            match files.load() {
                Ok(new) => {
                    certificate.set_key(new);
                    loaded = modified;
                    tracing::info!(cert = %files.cert.display(), "reloaded the serving certificate");
                }
                Err(error) => tracing::warn!(error = explain(error.as_ref()), "cannot reload the serving certificate"),
            }
        }
        certificate.check_time(SystemTime::now());
    }
}

/// Returns a TLS acceptor with the certificate in these files, or with one that is generated now.
///
/// # Errors
/// If the files cannot be read, or do not belong together.
pub fn load_acceptor(files: Option<Files>) -> anyhow::Result<TlsAcceptor> {
    let modified = files.as_ref().and_then(Files::modification_time); // before the files are read
    let certificate = match &files {
        Some(files) => ServingCertificate::from_file(&files.cert),
        None => ServingCertificate::default(),
    };
    let certificate = Arc::new(certificate);
    certificate.set_key(match &files {
        Some(files) => files.load()?,
        None => self_signed()?,
    });
    certificate.check_time(SystemTime::now());
    if let Some(files) = files {
        tokio::spawn(reload_on_change(files, modified, certificate.clone()));
    }
    certificate.into_acceptor()
}

#[cfg(test)]
mod tests;
