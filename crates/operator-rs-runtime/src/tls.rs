//! The certificate of the metrics endpoint: read from files and again when they change, or generated.
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
    path::PathBuf,
    sync::{Arc, RwLock},
    time::{Duration, SystemTime},
};
use tokio::time::sleep;
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
        let chain = CertificateDer::pem_file_iter(&self.cert).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let chain = chain.with_context(|| format!("cannot read {}", self.cert.display()))?;
        let key = PrivateKeyDer::from_pem_file(&self.key);
        let key = key.with_context(|| format!("cannot read {}", self.key.display()))?;
        let pair = CertifiedKey::from_der(chain, key, &ring::default_provider());
        pair.with_context(|| format!("cannot use {} with {}", self.cert.display(), self.key.display()))
    }

    /// Secret volumes change by swapping a symlink; this follows it.
    fn modified(&self) -> Option<SystemTime> {
        std::fs::metadata(&self.cert).and_then(|m| m.modified()).ok()
    }
}

fn self_signed() -> anyhow::Result<CertifiedKey> {
    let host = std::env::var("POD_NAME").unwrap_or_else(|_| "localhost".into());
    let pair = rcgen::generate_simple_self_signed(vec![host])?;
    let key = PrivateKeyDer::try_from(pair.signing_key.serialize_der()).map_err(anyhow::Error::msg)?;
    Ok(CertifiedKey::from_der(vec![pair.cert.der().clone()], key, &ring::default_provider())?)
}

#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().expect("not poisoned").clone())
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
                *current.0.write().expect("not poisoned") = Arc::new(new);
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
    let cert = match &files {
        Some(files) => files.load()?,
        None => self_signed()?,
    };
    let current = Arc::new(Current(RwLock::new(Arc::new(cert))));
    if let Some(files) = files {
        tokio::spawn(reload(files, seen, current.clone()));
    }
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_cert_resolver(current);
    Ok(TlsAcceptor::from(Arc::new(config)))
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
        let current = Arc::new(Current(RwLock::new(Arc::new(files.load().unwrap()))));
        let first = current.0.read().unwrap().clone();
        tokio::spawn(reload(files.clone(), None, current.clone()));
        std::fs::write(&files.cert, "rubbish").unwrap();
        sleep(CHECK * 2).await;
        assert!(Arc::ptr_eq(&first, &current.0.read().unwrap()), "the last good one is kept");
        write();
        sleep(CHECK * 2).await;
        assert_ne!(first.cert, current.0.read().unwrap().cert);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
