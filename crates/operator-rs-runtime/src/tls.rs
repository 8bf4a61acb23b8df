//! The certificate of an endpoint: read from files and again when they change, generated, or set by others.
//! rustls has no such resolver.

use crate::explain;
use anyhow::Context;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{sync::watch, time::sleep};
use tokio_rustls::TlsAcceptor;

/// How often the certificate's files are looked at.
const CHECK: Duration = Duration::from_secs(10);

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
pub struct Current(watch::Sender<Option<Arc<CertifiedKey>>>);

impl Current {
    pub fn set(&self, key: CertifiedKey) {
        self.0.send_replace(Some(Arc::new(key)));
    }

    /// Waits for the first one.
    #[cfg(any(feature = "admission", feature = "conversion"))]
    pub async fn is_set(&self) {
        let _ = self.0.subscribe().wait_for(Option::is_some).await;
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
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.borrow().clone()
    }
}

async fn reload(files: Files, mut seen: Option<SystemTime>, current: Arc<Current>) {
    loop {
        sleep(CHECK).await;
        let at = files.modified();
        if at == seen {
            continue;
        }
        match files.load() {
            Ok(new) => {
                current.set(new);
                seen = at;
                tracing::info!(cert = %files.cert.display(), "reloaded the serving certificate");
            }
            Err(error) => tracing::warn!(error = explain(error.as_ref()), "cannot reload the serving certificate"),
        }
    }
}

/// Serves with the certificate in these files, or with one that is generated now.
///
/// # Errors
/// If the files cannot be read, or do not belong together.
pub fn acceptor(files: Option<Files>) -> anyhow::Result<TlsAcceptor> {
    let seen = files.as_ref().and_then(Files::modified); // before they are read
    let current = Arc::new(Current::default());
    current.set(match &files {
        Some(files) => files.load()?,
        None => self_signed()?,
    });
    if let Some(files) = files {
        tokio::spawn(reload(files, seen, current.clone()));
    }
    current.acceptor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_renewed_certificate_is_served_and_a_bad_one_is_not() {
        let dir = std::env::temp_dir().join(format!("runtime-tls-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let files = Files { cert: dir.join("tls.crt"), key: dir.join("tls.key") };
        let write = || {
            let pair = rcgen::generate_simple_self_signed(vec!["it".into()]).unwrap();
            std::fs::write(&files.key, pair.signing_key.serialize_pem()).unwrap();
            std::fs::write(&files.cert, pair.cert.pem()).unwrap();
        };
        assert!(explain(acceptor(Some(files.clone())).err().unwrap().as_ref()).contains("cannot read"));
        write();
        let current = Arc::new(Current::default());
        current.set(files.load().unwrap());
        let served = || current.0.borrow().clone().unwrap();
        let first = served();
        tokio::spawn(reload(files.clone(), None, current.clone()));
        std::fs::write(&files.cert, "rubbish").unwrap();
        sleep(CHECK * 2).await;
        assert!(Arc::ptr_eq(&first, &served()), "the last good one is kept");
        write();
        sleep(CHECK * 2).await;
        assert_ne!(first.cert, served().cert);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
