use super::{connections::FIRST_REQUEST_TIMEOUT, *};
use crate::webhooks::{Routes, Webhook};
use futures::FutureExt;
use std::net::SocketAddr;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
};

/// Starts a server of up to 128 connections.
async fn start_server(pages: Pages, tls: Option<TlsAcceptor>) -> (SocketAddr, CancellationToken, JoinHandle<()>) {
    assert!(pages.max_connections() >= 128);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let server = Server { pages, tls, stop: stop.clone() };
    (address, stop, tokio::spawn(accept_connections(listener, Arc::new(Connections::new(128)), Arc::new(server))))
}

async fn send(address: SocketAddr, request: &str) -> String {
    let mut tcp = TcpStream::connect(address).await.unwrap();
    let _ = tcp.write_all(request.as_bytes()).await; // it may be refused before it is read
    let mut answer = vec![];
    let _ = tcp.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

async fn ask(address: SocketAddr, method: &str, path: &str, more: &str) -> String {
    send(address, &format!("{method} {path} HTTP/1.1\r\nhost: it\r\nconnection: close\r\n{more}\r\n")).await
}

#[tokio::test]
async fn probes_say_what_is_not_ready() {
    let readiness = Readiness::default();
    let caches = readiness.expect_caches("site");
    let (address, ..) = start_server(Pages::Probes(readiness.clone()), None).await;
    let readyz = ask(address, "GET", "/readyz", "").await;
    assert!(readyz.starts_with("HTTP/1.1 503") && readyz.ends_with("waiting for site"), "{readyz}");
    assert!(ask(address, "GET", "/healthz", "").await.ends_with("\r\n\r\nok"));
    readiness.ignore_caches();
    let readyz = ask(address, "GET", "/readyz", "").await;
    let told = "ok, but these caches are not filled yet: site";
    assert!(readyz.starts_with("HTTP/1.1 200") && readyz.ends_with(told), "{readyz}");
    caches.ready();
    assert!(ask(address, "GET", "/readyz", "").await.ends_with("\r\n\r\nok"));
    assert!(ask(address, "GET", "/readyz?verbose", "").await.starts_with("HTTP/1.1 200"));
    let head = ask(address, "HEAD", "/readyz", "").await;
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"));
    assert!(ask(address, "GET", "/metrics", "").await.starts_with("HTTP/1.1 404"));
    assert!(ask(address, "POST", "/readyz", "content-length: 0\r\n").await.starts_with("HTTP/1.1 405"));
}

#[tokio::test]
async fn metrics_are_open_metrics_for_who_asks_for_it() {
    let (address, ..) = start_server(Pages::Metrics(Arc::default(), None), None).await;
    let text = ask(address, "GET", "/metrics", "").await;
    assert!(text.contains("content-type: text/plain; version=0.0.4") && text.ends_with("# EOF\n"), "{text}");
    let accept = "accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3\r\n";
    let text = ask(address, "GET", "/metrics", accept).await;
    assert!(text.contains("content-type: application/openmetrics-text; version=1.0.0"), "{text}");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let (address, ..) = start_server(Pages::Probes(Readiness::default()), None).await;
    let answer = ask(address, "GET", "/healthz", &format!("x: {}\r\n", "x".repeat(64 * 1024))).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    assert!(ask(address, "GET", "/healthz", "").await.ends_with("ok"));
}

#[tokio::test(start_paused = true)]
async fn silent_clients_are_put_out_and_others_served() {
    for tls in [false, true] {
        let acceptor = tls.then(|| crate::tls::load_acceptor(None).unwrap());
        let (address, ..) = start_server(Pages::Probes(Readiness::default()), acceptor).await;
        let mut silent = vec![];
        for _ in 0..128 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let waits = tokio::spawn(async move { ask(address, "GET", "/healthz", "").await });
        for mut client in silent {
            let mut rest = vec![];
            let _ = timeout(FIRST_REQUEST_TIMEOUT * 2, client.read_to_end(&mut rest)).await.expect("put out");
        }
        assert!(tls || waits.await.unwrap().ends_with("ok"));
    }
}

#[tokio::test]
async fn a_crowd_that_asks_for_nothing_does_not_hold_up_the_probes() {
    let (address, ..) = start_server(Pages::Probes(Readiness::default()), None).await;
    let mut silent = vec![];
    for _ in 0..128 + 10 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let answer = timeout(Duration::from_secs(1), ask(address, "GET", "/healthz", "")).await;
    assert!(answer.expect("a kubelet waits for a second").ends_with("ok"));
}

#[tokio::test]
async fn serving_ends_when_it_is_told_to() {
    let (address, stop, server) = start_server(Pages::Probes(Readiness::default()), None).await;
    let mut open = TcpStream::connect(address).await.unwrap();
    open.write_all(b"GET /healthz HTTP/1.1\r\nhost: it\r\n\r\n").await.unwrap();
    let mut buffer = [0; 512];
    let n = open.read(&mut buffer).await.unwrap();
    assert!(buffer[..n].ends_with(b"ok"));
    stop.cancel();
    timeout(Duration::from_secs(2), server).await.unwrap().unwrap();
    assert_eq!(open.read(&mut buffer).await.unwrap(), 0);
}

/// Checks `[::1]` alone, and both families at once, where this machine has IPv6.
#[tokio::test]
async fn a_port_alone_is_for_ipv6_and_ipv4() {
    if TcpListener::bind("[::1]:0").await.is_err() {
        return;
    }
    let stop = CancellationToken::new();
    let pages = || Pages::Probes(Readiness::default());
    let free = |listener: TcpListener| listener.local_addr().unwrap().port();
    let port = free(TcpListener::bind("[::]:0").await.unwrap());
    let both = Address(vec![([0_u16; 8], port).into(), ([0_u8; 4], port).into()]);
    let _server = spawn_server(both, pages(), None, stop.clone()).await.unwrap();
    for ip in ["127.0.0.1", "[::1]"] {
        assert!(ask(format!("{ip}:{port}").parse().unwrap(), "GET", "/healthz", "").await.ends_with("ok"), "{ip}");
    }
    let port = free(TcpListener::bind("[::1]:0").await.unwrap());
    let only = Address(vec![format!("[::1]:{port}").parse().unwrap()]);
    let _server = spawn_server(only.clone(), pages(), None, stop.clone()).await.unwrap();
    assert!(ask(format!("[::1]:{port}").parse().unwrap(), "GET", "/healthz", "").await.ends_with("ok"));
    let error = spawn_server(only, pages(), None, stop).await.unwrap_err();
    assert!(crate::explain(error.as_ref()).starts_with(&format!("cannot listen on [::1]:{port}: ")), "{error:#}");
}

/// Simulates a machine without IPv6: the first address is not available.
#[tokio::test]
async fn where_ipv6_is_off_ipv4_is_listened_on() {
    let absent = "[2001:db8::1]:0".parse().unwrap();
    let both = Address(vec![absent, "127.0.0.1:0".parse().unwrap()]);
    spawn_server(both, Pages::Probes(Readiness::default()), None, CancellationToken::new()).await.unwrap();
}

/// Returns a webhook whose answers take this time.
fn slow_webhook(manager: &crate::Manager, time: Duration) -> Pages {
    let review = Arc::new(move |_, _| {
        async move {
            sleep(time).await;
            Response::new(Bytes::from("answered"))
        }
        .boxed()
    });
    let webhook = Webhook::Admission { path: "/slow".into(), review };
    Pages::Webhooks(Routes::new([&webhook].into_iter(), manager).unwrap())
}

fn manager() -> crate::Manager {
    let identity = crate::Identity { name: "operator", version: "1" };
    crate::Manager::new(identity, operator_rs_testing::Cluster::default().client())
}

const REVIEW: &str = "content-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

/// Sends a review in a new connection from this address of this machine.
async fn review(address: SocketAddr, from: [u8; 4]) -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut tcp = socket.connect(address).await.unwrap();
    tcp.write_all(format!("POST /slow HTTP/1.1\r\nhost: it\r\nconnection: close\r\n{REVIEW}").as_bytes())
        .await
        .unwrap();
    let mut answer = vec![];
    let _ = tcp.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn no_answer_is_cut_off_for_a_new_connection() {
    let (address, ..) = start_server(slow_webhook(&manager(), Duration::from_millis(200)), None).await;
    let mut answers = vec![];
    for nth in 0..400 {
        answers.push(tokio::spawn(review(address, [127, 0, 0, 1])));
        if nth % 100 == 0 {
            sleep(Duration::from_millis(50)).await; // until they are read
        }
    }
    for answer in answers {
        let answer = timeout(Duration::from_secs(10), answer).await.expect("it is answered").unwrap();
        assert!(answer.ends_with("answered"), "{answer}");
    }
}

#[tokio::test]
async fn a_client_that_opens_many_connections_does_not_end_those_of_others() {
    let (address, ..) = start_server(slow_webhook(&manager(), Duration::ZERO), None).await;
    let mut kept = TcpStream::connect(address).await.unwrap();
    let mut ask = async || {
        kept.write_all(format!("POST /slow HTTP/1.1\r\nhost: it\r\n{REVIEW}").as_bytes()).await.unwrap();
        let mut answer = [0; 512];
        let length = kept.read(&mut answer).await.unwrap();
        assert!(answer[..length].ends_with(b"answered"), "{:?}", String::from_utf8_lossy(&answer[..length]));
    };
    ask().await;
    let mut crowd = vec![];
    for nth in 0..300 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let mut tcp = socket.connect(address).await.unwrap();
        // The connections are silent, or send half a head or half a body.
        let begun = ["", "POST /slow HTTP/1.1\r\nhost: ", "POST /slow HTTP/1.1\r\nhost: it\r\n"][nth % 3];
        tcp.write_all(begun.as_bytes()).await.unwrap();
        if nth % 3 == 2 {
            let _ = tcp.write_all(&REVIEW.as_bytes()[..REVIEW.len() - 1]).await;
        }
        crowd.push(tcp);
        let answer = timeout(Duration::from_secs(1), review(address, [127, 0, 0, 1])).await.expect("it is answered");
        assert!(answer.ends_with("answered"), "{nth}: {answer}");
        ask().await;
    }
}

#[tokio::test]
async fn what_is_asked_when_serving_ends_is_answered() {
    for tls in [false, true] {
        let acceptor = tls.then(|| crate::tls::load_acceptor(None).unwrap());
        let (address, stop, server) =
            start_server(slow_webhook(&manager(), Duration::from_millis(1500)), acceptor).await;
        let asked = (!tls).then(|| tokio::spawn(review(address, [127, 0, 0, 1])));
        let _silent = TcpStream::connect(address).await.unwrap();
        sleep(Duration::from_millis(100)).await;
        stop.cancel();
        timeout(Duration::from_secs(3), server).await.expect("silent clients do not delay the end").unwrap();
        if let Some(asked) = asked {
            assert!(asked.await.unwrap().ends_with("answered"));
        }
    }
}
