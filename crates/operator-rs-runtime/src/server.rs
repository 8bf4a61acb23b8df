//! Probes and metrics over HTTP, on hyper alone: three pages need no framework, and what anybody may
//! connect to needs limits.

use crate::{authorize::Authorizer, flags::Address, metrics::Metrics, readiness::Readiness};
use anyhow::Context;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{collections::VecDeque, convert::Infallible, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::debug;

/// The maximum number of connections. One more closes the oldest: a client that requests a page has its answer
/// long before, and clients that request nothing do not block the probes.
const CONNECTIONS: usize = 128;
/// How long a TLS handshake may take, and the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// The largest head of a request.
const HEAD_BYTES: usize = 16 * 1024;
/// How old a connection may become: one whose client reads nothing ends, too.
const AGE: Duration = Duration::from_secs(5 * 60);
/// How long the last answer of a connection may take.
const LAST: Duration = Duration::from_secs(1);

/// The pages of a server.
pub(crate) enum Pages {
    /// `/healthz` and `/readyz`.
    Probes(Readiness),
    /// `/metrics`: to everybody, or to those who may `get` it.
    Metrics(Arc<Metrics>, Option<Box<Authorizer>>),
    /// Admission and conversion.
    #[cfg(any(feature = "admission", feature = "conversion"))]
    Webhooks(crate::webhooks::Routes),
}

const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Pages {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        #[cfg(any(feature = "admission", feature = "conversion"))]
        if let Self::Webhooks(routes) = self {
            return routes.answer(request).await.map(Full::new);
        }
        let (path, headers) = (request.uri().path(), request.headers());
        match (self, path) {
            (Self::Probes(_), "/healthz" | "/readyz") | (Self::Metrics(..), "/metrics") => {}
            _ => return page(StatusCode::NOT_FOUND, TEXT, "not found"),
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut refused = page(StatusCode::METHOD_NOT_ALLOWED, TEXT, "use GET");
            refused.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
        match self {
            Self::Probes(readiness) if path == "/readyz" => match readiness.pending().join(", ") {
                none if none.is_empty() => page(StatusCode::OK, TEXT, "ok"),
                some => page(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("waiting for {some}")),
            },
            Self::Probes(_) => page(StatusCode::OK, TEXT, "ok"),
            #[cfg(any(feature = "admission", feature = "conversion"))]
            Self::Webhooks(_) => unreachable!("answered above"),
            Self::Metrics(metrics, authorizer) => {
                let code = match authorizer {
                    Some(it) => it.check(headers, "get", path).await,
                    None => StatusCode::OK,
                };
                if code != StatusCode::OK {
                    return page(code, TEXT, code.canonical_reason().unwrap_or_default());
                }
                // Prometheus asks for OpenMetrics. Others can read it as the older format, too, if it is
                // not called what they do not know.
                let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
                let open = accepts.into_iter().any(|it| it.contains("application/openmetrics-text"));
                page(
                    code,
                    if open { OPEN_METRICS } else { "text/plain; version=0.0.4; charset=utf-8" },
                    metrics.encode(),
                )
            }
        }
    }
}

fn page(code: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let response = Response::builder().status(code).header(header::CONTENT_TYPE, kind);
    response.body(Full::new(body.into())).expect("the header is valid")
}

/// Serves until `stop`, and ends when all requests of before are answered.
///
/// # Errors
/// If none of the addresses can be listened on.
pub(crate) async fn serve(
    Address(addresses): Address,
    pages: Pages,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
) -> anyhow::Result<JoinHandle<()>> {
    let listener = TcpListener::bind(&*addresses).await;
    let listener = listener.with_context(|| format!("cannot listen on {}", addresses[0]))?;
    Ok(tokio::spawn(accept(listener, Arc::new(Server { pages, tls, stop }))))
}

struct Server {
    pages: Pages,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
}

async fn accept(listener: TcpListener, server: Arc<Server>) {
    let (connections, mut open) = (TaskTracker::new(), VecDeque::<JoinHandle<()>>::new());
    while let Some(accepted) = server.stop.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((tcp, _)) => {
                if open.len() == CONNECTIONS {
                    open.retain(|it| !it.is_finished());
                }
                if open.len() == CONNECTIONS
                    && let Some(oldest) = open.pop_front()
                {
                    oldest.abort();
                    let _ = oldest.await;
                }
                let server = server.clone();
                open.push_back(connections.spawn(async move { server.connection(tcp).await }));
            }
            Err(error) => {
                debug!(%error, "cannot accept a connection"); // too many open files, most likely
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

impl Server {
    async fn connection(&self, tcp: TcpStream) {
        match &self.tls {
            None => self.http(tcp).await,
            Some(tls) => match timeout(HEAD, tls.accept(tcp)).await {
                Ok(Ok(tls)) => self.http(tls).await,
                Ok(Err(error)) => debug!(%error, "the TLS handshake failed"),
                Err(_) => debug!("the TLS handshake took too long"),
            },
        }
    }

    async fn http(&self, io: impl AsyncRead + AsyncWrite + Unpin) {
        let answer = service_fn(async |request| Ok::<_, Infallible>(self.pages.answer(request).await));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
        let mut connection = pin!(http.serve_connection(TokioIo::new(io), answer));
        tokio::select! {
            _ = &mut connection => return,
            () = self.stop.cancelled() => {}
            () = sleep(AGE) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST, connection).await;
    }
}

#[cfg(test)]
mod tests;
