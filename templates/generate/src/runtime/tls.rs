//! HTTPS: an axum `Listener` that terminates TLS and picks up renewed certificates without a restart.

use anyhow::Context;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, RwLock},
    time::{Duration, SystemTime},
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// How often the certificate's files are looked at.
const CHECK: Duration = Duration::from_secs(10);

/// Where the certificate is mounted; none: one is made up at each start.
#[derive(Clone, Debug)]
pub struct Files {
    pub cert: PathBuf,
    pub key: PathBuf,
}

impl Files {
    fn load(&self) -> anyhow::Result<CertifiedKey> {
        let chain = CertificateDer::pem_file_iter(&self.cert).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let chain = chain.with_context(|| format!("cannot read {}", self.cert.display()))?;
        let key = PrivateKeyDer::from_pem_file(&self.key);
        let key = key.with_context(|| format!("cannot read {}", self.key.display()))?;
        Ok(CertifiedKey::from_der(chain, key, &ring::default_provider())?)
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

async fn reload(files: Files, current: Arc<Current>) {
    let mut seen = files.modified();
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
            Err(error) => tracing::warn!(%error, "cannot reload the serving certificate"),
        }
    }
}

pub struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
    handshakes: JoinSet<Option<(TlsStream<TcpStream>, SocketAddr)>>,
}

impl TlsListener {
    pub async fn bind(addr: SocketAddr, files: Option<Files>) -> anyhow::Result<Self> {
        let cert = match &files {
            Some(files) => files.load()?,
            None => self_signed()?,
        };
        let current = Arc::new(Current(RwLock::new(Arc::new(cert))));
        if let Some(files) = files {
            tokio::spawn(reload(files, current.clone()));
        }
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(current);
        let tcp = TcpListener::bind(addr).await.with_context(|| format!("cannot listen on {addr}"))?;
        Ok(Self { tcp, acceptor: TlsAcceptor::from(Arc::new(config)), handshakes: JoinSet::new() })
    }
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        // Handshakes run aside, so that one slow client cannot block the rest.
        loop {
            tokio::select! {
                Some(Ok(Some(done))) = self.handshakes.join_next() => return done,
                (tcp, addr) = axum::serve::Listener::accept(&mut self.tcp), if self.handshakes.len() < 64 => {
                    let acceptor = self.acceptor.clone();
                    self.handshakes.spawn(async move {
                        let tls = timeout(Duration::from_secs(10), acceptor.accept(tcp)).await;
                        tls.ok()?.ok().map(|tls| (tls, addr))
                    });
                }
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}
