use super::*;
use crate::{Component, Identity, explain, metrics::Metrics, webhook_server::start_server, webhook_service};
use clap::Parser;
use futures::future::FutureExt;
use http::{Request, StatusCode};
use operator_rs_testing::Cluster;
use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use tokio_rustls::TlsConnector;
use tower::ServiceExt;

fn manager() -> Manager {
    Manager::new(Identity { name: "operator", version: "1" }, Cluster::default().client())
}

/// Returns a webhook that answers with the request.
fn echo(path: &str) -> Component {
    let review = Arc::new(|_, call: Call| async move { Response::new(call.body) }.boxed());
    Webhook::Admission { path: path.into(), review }.into()
}

fn post(path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
    Request::post(path).header("content-type", "application/json").body(body.into()).unwrap()
}

async fn ask(request: Request<Bytes>) -> (StatusCode, String) {
    let answer = webhook_service([echo("/a"), echo("/b")], &manager()).oneshot(request).await.unwrap();
    (answer.status(), String::from_utf8(answer.into_body().to_vec()).unwrap())
}

#[tokio::test]
async fn a_request_goes_to_what_serves_its_path() {
    assert_eq!(ask(post("/a?timeout=10s", "{}")).await, (StatusCode::OK, "{}".into()));
    assert_eq!(ask(post("/b", "[]")).await, (StatusCode::OK, "[]".into()));
}

#[tokio::test]
async fn what_is_no_review_is_refused_with_a_status() {
    let get = Request::get("/a").body(Bytes::new()).unwrap();
    let text = Request::post("/a").header("content-type", "text/plain").body(Bytes::new()).unwrap();
    for (request, code, message) in [
        (post("/c", ""), 404, "no webhook has the path `/c`"),
        (get, 405, "a webhook takes POST only"),
        (text, 415, "a review has the content type `application/json`"),
        (post("/a", vec![b' '; 8 << 20]), 413, "a review may have 7 MiB at most"),
    ] {
        let (status, body) = ask(request).await;
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status.as_u16(), body["message"].as_str().unwrap()), (code, message));
        assert_eq!((&body["kind"], &body["code"]), (&"Status".into(), &code.into()));
    }
}

#[tokio::test]
#[should_panic(expected = "two webhooks have the path `/a`: give each its own")]
async fn two_webhooks_with_one_path_are_refused() {
    let _ = webhook_service([echo("/a"), echo("/a")], &manager());
}

#[tokio::test]
async fn requests_are_counted_under_the_names_of_controller_runtime() {
    let manager = manager();
    let service = webhook_service([echo("/a")], &manager);
    for request in [post("/a", "{}"), post("/a", "{}"), Request::get("/a").body(Bytes::new()).unwrap()] {
        service.clone().oneshot(request).await.unwrap();
    }
    let text = manager.metrics.encode();
    for line in [
        r#"requests_total{webhook="/a",code="200"} 2"#,
        r#"requests_total{webhook="/a",code="405"} 1"#,
        r#"requests_total{webhook="/a",code="500"} 0"#,
        r#"latency_seconds_count{webhook="/a"} 3"#,
        r#"requests_in_flight{webhook="/a"} 0"#,
        "panics_total 0",
    ] {
        assert!(text.contains(&format!("\ncontroller_runtime_webhook_{line}\n")), "{line}\n{text}");
    }
    assert!(!Metrics::default().encode().contains("webhook"), "an operator without webhooks has none of it");
}

#[tokio::test]
async fn an_api_server_does_not_keep_its_connection_to_a_process_that_ends() {
    let manager = manager();
    let service = webhook_service([echo("/a")], &manager);
    let answer = service.clone().oneshot(post("/a", "{}")).await.unwrap();
    assert_eq!(answer.headers().get("connection"), None);
    manager.stop.cancel();
    let answer = service.oneshot(post("/a", "{}")).await.unwrap();
    assert_eq!((answer.status(), &answer.headers()["connection"]), (StatusCode::OK, &"close".parse().unwrap()));
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    flags: crate::Flags,
}

/// Returns a free port that the system does not assign to a process that asks for any port.
async fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 20_000 + (std::process::id() % 9_000) as u16;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("::", port)).await.is_ok() {
            return port;
        }
    }
}

/// Returns flags with a certificate in a directory and a free port, and the port.
pub async fn flags(dir: &Path, more: &[&str]) -> (crate::Flags, u16) {
    let port = free_port().await;
    let own = ["manager".into(), format!("--webhook-port={port}"), format!("--webhook-cert-path={}", dir.display())];
    let args = own.into_iter().chain(more.iter().map(ToString::to_string));
    (Args::parse_from(args).flags, port)
}

/// Creates a directory with a certificate, and returns both.
pub fn certificate(name: &str) -> (PathBuf, CertificateDer<'static>) {
    let dir = std::env::temp_dir().join(format!("runtime-webhooks-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    std::fs::write(dir.join("tls.key"), pair.signing_key.serialize_pem()).unwrap();
    std::fs::write(dir.join("tls.crt"), pair.cert.pem()).unwrap();
    (dir, pair.cert.der().clone())
}

/// Sends a review over TLS.
async fn send(port: u16, certificate: &CertificateDer<'static>) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let tcp = TcpStream::connect(("127.0.0.1", port)).await?;
    let connector = TlsConnector::from(Arc::new(config.with_no_client_auth()));
    let mut tls = connector.connect("localhost".try_into().unwrap(), tcp).await?;
    let head =
        "POST /a HTTP/1.1\r\nhost: it\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 2";
    tls.write_all(format!("{head}\r\n\r\n{{}}").as_bytes()).await?;
    let mut answer = String::new();
    let _ = tls.read_to_string(&mut answer).await;
    Ok(answer)
}

#[tokio::test]
async fn webhooks_are_served_for_some_time_after_the_signal_to_stop() {
    let (dir, certificate) = certificate("stop");
    let (flags, port) = flags(&dir, &["--graceful-shutdown-timeout=500ms"]).await;
    let manager = manager();
    let parts = [echo("/a")];
    let server =
        start_server(&flags, parts.iter().filter_map(Component::as_webhook), &manager, None).await.unwrap().unwrap();
    assert!(manager.readiness.pending().is_empty());
    assert!(send(port, &certificate).await.unwrap().ends_with("{}"));
    manager.stop.cancel();
    sleep(Duration::from_millis(100)).await;
    assert!(send(port, &certificate).await.unwrap().ends_with("{}"), "other nodes do not know of the end yet");
    timeout(Duration::from_secs(2), server.shut_down(false)).await.unwrap();
    send(port, &certificate).await.unwrap_err();
    std::fs::remove_dir_all(&dir).unwrap();
}

#[tokio::test]
async fn webhooks_are_served_until_the_last_reconcile_has_ended() {
    let (dir, certificate) = certificate("reconcile");
    let (flags, port) = flags(&dir, &["--graceful-shutdown-timeout=100ms"]).await;
    let (manager, parts) = (manager(), [echo("/a")]);
    let server =
        start_server(&flags, parts.iter().filter_map(Component::as_webhook), &manager, None).await.unwrap().unwrap();
    manager.stop.cancel();
    sleep(Duration::from_millis(300)).await;
    assert!(send(port, &certificate).await.unwrap().ends_with("{}"), "a reconcile that still runs may need them");
    timeout(Duration::from_secs(2), server.shut_down(false)).await.unwrap();
    send(port, &certificate).await.unwrap_err();
    std::fs::remove_dir_all(&dir).unwrap();
}

#[tokio::test]
async fn the_end_of_a_process_that_fails_is_not_delayed() {
    let (dir, _) = certificate("fail");
    for (failed, stop) in [(true, true), (true, false), (false, false)] {
        let ((flags, _), manager) = (flags(&dir, &[]).await, manager());
        let parts = [echo("/a")];
        let server = start_server(&flags, parts.iter().filter_map(Component::as_webhook), &manager, None)
            .await
            .unwrap()
            .unwrap();
        if stop {
            manager.stop.cancel();
        }
        timeout(Duration::from_secs(1), server.shut_down(failed)).await.unwrap();
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[tokio::test]
async fn a_certificate_that_is_missing_is_named_with_the_way_out() {
    let (flags, _) = flags(Path::new("/nowhere"), &[]).await;
    let (parts, manager) = ([echo("/a")], manager());
    let error =
        start_server(&flags, parts.iter().filter_map(Component::as_webhook), &manager, None).await.err().unwrap();
    let text = explain(error.as_ref());
    assert!(text.starts_with("the webhooks need a certificate: mount its Secret") && text.contains("/nowhere/tls.crt"));
    assert_eq!(manager.readiness.pending(), ["the webhooks to be served"]);
}

#[tokio::test]
async fn without_webhooks_nothing_is_served() {
    let (on, _) = flags(Path::new("/nowhere"), &[]).await;
    let (off, _) = flags(Path::new("/nowhere"), &["--enable-webhooks=false"]).await;
    let manager = manager();
    assert!(start_server(&on, [].into_iter(), &manager, None).await.unwrap().is_none());
    let parts = [echo("/a")];
    assert!(
        start_server(&off, parts.iter().filter_map(Component::as_webhook), &manager, None).await.unwrap().is_none()
    );
}
