//! Serves probes, metrics and webhooks over HTTP. It uses only hyper: a few pages need no framework, and servers that
//! every client can reach need limits.

mod connections;

use crate::{Error, authorize::Authorizer, explain, flag_values::Address, metrics::Metrics, readiness::Readiness};
use anyhow::Context;
use connections::{Connection, Connections};
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::debug;

/// The maximum size of the head of a request.
const HEAD_BYTES: usize = 16 * 1024;
/// The time after which a closing connection is dropped, unless a request is being answered.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The pages of a server.
pub(crate) enum Pages {
    /// `/healthz` and `/readyz`.
    Probes(Readiness),
    /// `/metrics`, for every client, or for clients that may `get` it.
    Metrics(Arc<Metrics>, Option<Box<Authorizer>>),
    /// The admission and conversion webhooks.
    #[cfg(any(feature = "admission", feature = "conversion"))]
    Webhooks(crate::webhooks::Routes),
}

const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Pages {
    /// Returns the maximum number of connections.
    fn max_connections(&self) -> usize {
        match self {
            Self::Probes(_) | Self::Metrics(..) => 128,
            // More than the API server's limit of 600 concurrent requests, so that none of its connections has to end.
            #[cfg(any(feature = "admission", feature = "conversion"))]
            Self::Webhooks(_) => 768,
        }
    }

    async fn answer_request(&self, request: Request<Incoming>, connection: &Connection) -> Response<Full<Bytes>> {
        #[cfg(any(feature = "admission", feature = "conversion"))]
        if let Self::Webhooks(routes) = self {
            return routes.answer_request(request, || connection.mark_busy()).await.map(Full::new);
        }
        let _busy = connection.mark_busy();
        let (path, headers) = (request.uri().path(), request.headers());
        match (self, path) {
            (Self::Probes(_), "/healthz" | "/readyz") | (Self::Metrics(..), "/metrics") => {}
            _ => return new_page(StatusCode::NOT_FOUND, TEXT, "not found"),
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut refused = new_page(StatusCode::METHOD_NOT_ALLOWED, TEXT, "use GET");
            refused.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD"));
            return refused;
        }
        match self {
            Self::Probes(readiness) if path == "/readyz" => readiness_page(readiness),
            Self::Probes(_) => new_page(StatusCode::OK, TEXT, "ok"),
            #[cfg(any(feature = "admission", feature = "conversion"))]
            Self::Webhooks(_) => unreachable!("answered above"),
            Self::Metrics(metrics, authorizer) => {
                let code = match authorizer {
                    Some(authorizer) => authorizer.check_access(headers, "get", path).await,
                    None => StatusCode::OK,
                };
                if code != StatusCode::OK {
                    return new_page(code, TEXT, code.canonical_reason().unwrap_or_default());
                }
                // Prometheus asks for OpenMetrics. The same text is also valid in the older format, which other clients
                // accept only under its own content type.
                let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
                let is_open_metrics = accepts.into_iter().any(|value| value.contains("application/openmetrics-text"));
                let kind = if is_open_metrics { OPEN_METRICS } else { "text/plain; version=0.0.4; charset=utf-8" };
                new_page(code, kind, metrics.encode())
            }
        }
    }
}

/// Returns the page for `/readyz`. It also names the controllers whose caches are not filled yet in a process that is
/// ready without them.
fn readiness_page(readiness: &Readiness) -> Response<Full<Bytes>> {
    let pending = readiness.pending().join(", ");
    if !readiness.is_ready() {
        return new_page(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("waiting for {pending}"));
    }
    if pending.is_empty() {
        return new_page(StatusCode::OK, TEXT, "ok");
    }
    new_page(StatusCode::OK, TEXT, format!("ok, but these caches are not filled yet: {pending}"))
}

fn new_page(code: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let response = Response::builder().status(code).header(header::CONTENT_TYPE, kind);
    response.body(Full::new(body.into())).expect("the header is valid")
}

/// Serves the probes `/healthz` and `/readyz` until `stop` is cancelled. The returned task ends when all requests are
/// answered. `run_manager` does this for controllers of this crate.
///
/// # Errors
/// [`Error::Configuration`] if the address cannot be listened on.
pub async fn serve_probes(
    address: SocketAddr,
    readiness: &Readiness,
    stop: &CancellationToken,
) -> Result<JoinHandle<()>, Error> {
    serve_plain(address, Pages::Probes(readiness.clone()), stop).await
}

/// Serves `/metrics` to every client that reaches the address, until `stop` is cancelled. The returned task ends when
/// all requests are answered. `run_manager` does this for controllers of this crate, by default over TLS and only for
/// authorized clients.
///
/// # Errors
/// [`Error::Configuration`] if the address cannot be listened on.
pub async fn serve_metrics(
    address: SocketAddr,
    metrics: &Arc<Metrics>,
    stop: &CancellationToken,
) -> Result<JoinHandle<()>, Error> {
    serve_plain(address, Pages::Metrics(metrics.clone(), None), stop).await
}

/// Serves pages at one address, without TLS.
async fn serve_plain(address: SocketAddr, pages: Pages, stop: &CancellationToken) -> Result<JoinHandle<()>, Error> {
    let serving = spawn_server(Address(vec![address]), pages, None, stop.clone()).await;
    serving.map_err(|error| Error::Configuration(explain(error.as_ref())))
}

/// Starts a task that serves pages until `stop` is cancelled, and ends when all earlier requests are answered.
///
/// # Errors
/// If none of the addresses can be listened on.
pub(crate) async fn spawn_server(
    Address(addresses): Address,
    pages: Pages,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
) -> anyhow::Result<JoinHandle<()>> {
    let listener = TcpListener::bind(&*addresses).await;
    let listener = listener.with_context(|| format!("cannot listen on {}", addresses[0]))?;
    let connections = Arc::new(Connections::new(pages.max_connections()));
    Ok(tokio::spawn(accept_connections(listener, connections, Arc::new(Server { pages, tls, stop }))))
}

struct Server {
    pages: Pages,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
}

async fn accept_connections(listener: TcpListener, connections: Arc<Connections>, server: Arc<Server>) {
    let tasks = TaskTracker::new();
    while let Some(accepted) = server.stop.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((tcp, from)) => {
                let connection = connections.open(from.ip().to_canonical());
                let Some(connection) = server.stop.run_until_cancelled(connection).await else { break };
                // The rest of a response must not wait until the client acknowledges its beginning.
                let _ = tcp.set_nodelay(true);
                let server = server.clone();
                tasks.spawn(async move { server.serve_connection(tcp, connection).await });
            }
            Err(error) => {
                debug!(%error, "cannot accept a connection"); // too many open files, most likely
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

impl Server {
    async fn serve_connection(&self, tcp: TcpStream, connection: Connection) {
        match &self.tls {
            None => self.serve_http(tcp, &connection).await,
            Some(tls) => tokio::select! {
                accepted = tls.accept(tcp) => match accepted {
                    Ok(tls) => self.serve_http(tls, &connection).await,
                    Err(error) => debug!(%error, "the TLS handshake failed"),
                },
                () = connection.wait_until_expired() => debug!("the TLS handshake took too long"),
                () = async { self.stop.cancelled().await; sleep(CLOSE_TIMEOUT).await } => {}
            },
        }
    }

    async fn serve_http(&self, io: impl AsyncRead + AsyncWrite + Unpin, connection: &Connection) {
        let answer =
            service_fn(async |request| Ok::<_, Infallible>(self.pages.answer_request(request, connection).await));
        let mut http = http1::Builder::new();
        http.header_read_timeout(None).max_buf_size(HEAD_BYTES);
        let mut http = pin!(http.serve_connection(TokioIo::new(io), answer));
        tokio::select! {
            _ = &mut http => return,
            () = connection.wait_until_expired() => {
                if connection.is_new() {
                    return;
                }
            }
            () = self.stop.cancelled() => {}
        }
        http.as_mut().graceful_shutdown();
        while timeout(CLOSE_TIMEOUT, &mut http).await.is_err() && connection.is_busy() {}
    }
}

#[cfg(test)]
mod tests;
