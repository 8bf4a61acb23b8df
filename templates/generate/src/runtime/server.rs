//! Probes and metrics over HTTP.

use super::{
    gate,
    metrics::Metrics,
    tls::{Files, TlsListener},
};
use anyhow::Context;
use axum::{Router, extract::State, http::header, middleware, response::IntoResponse, routing::get};
use kube::Client;
use std::{future::IntoFuture, net::SocketAddr, sync::Arc};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Serves the probes until `stop`. Fails if the port is in use.
pub async fn probes(addr: SocketAddr, stop: CancellationToken) -> anyhow::Result<()> {
    let app = Router::new().route("/healthz", get(|| async { "ok" })).route("/readyz", get(|| async { "ok" }));
    let listener = TcpListener::bind(addr).await.with_context(|| format!("cannot listen on {addr}"))?;
    tokio::spawn(axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned()).into_future());
    Ok(())
}

/// Serves the metrics until `stop`: to everybody over plain HTTP, or, with `secure`, over HTTPS to
/// those who may `get` the path.
pub async fn metrics(
    addr: SocketAddr,
    secure: Option<(Client, Option<Files>)>,
    metrics: Arc<Metrics>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let app = Router::new().route("/metrics", get(encode)).with_state(metrics);
    match secure {
        None => {
            let listener = TcpListener::bind(addr).await.with_context(|| format!("cannot listen on {addr}"))?;
            tokio::spawn(axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned()).into_future());
        }
        Some((client, files)) => {
            let app = app.layer(middleware::from_fn_with_state(gate::Gate::new(client), gate::authorize));
            let listener = TlsListener::bind(addr, files).await?;
            tokio::spawn(axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned()).into_future());
        }
    }
    Ok(())
}

async fn encode(State(metrics): State<Arc<Metrics>>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], metrics.encode())
}
