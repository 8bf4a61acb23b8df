use super::{
    limited::{BodyLength, body_length, limit_layer},
    *,
};
use futures::TryStreamExt;
use http::{Request, Response};
use hyper::body::{Body as HttpBody, Bytes, Frame};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, WatchParams},
    client::Body,
};
use std::{
    convert::Infallible,
    future::pending,
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::Instant,
};
use tower::BoxError;

const IDENTITY: Identity = Identity { name: "it", version: "1.2.3" };

/// Returns a client of a server that answers each request with this body, or never if there is none.
fn client<B>(limits: &Limits, metrics: &Arc<Metrics>, body: impl Fn() -> Option<B> + Send + 'static) -> Client
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    let service = tower::service_fn(move |_: Request<Body>| {
        let body = body();
        async move {
            match body {
                Some(body) => Ok::<_, Infallible>(Response::new(body)),
                None => pending().await,
            }
        }
    });
    ClientBuilder::new(service, "default").with_layer(&limit_layer("host:1".into(), limits, metrics)).build()
}

/// A body that begins and never ends.
struct Endless(Option<Bytes>);

impl HttpBody for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.0.take() {
            Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            None => Poll::Pending,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_an_error_of_one_sentence() {
    let metrics = Arc::new(Metrics::default());
    let client = client(&Limits::default(), &metrics, || None::<Endless>);
    let start = Instant::now();
    let error = Api::<ConfigMap>::all(client.clone()).list(&ListParams::default()).await.unwrap_err();
    assert_eq!(start.elapsed().as_secs(), 30);
    assert_eq!(crate::explain(&error), "the API server at host:1 did not answer GET /api/v1/configmaps within 30s");
    let watch = Api::<ConfigMap>::all(client).watch(&WatchParams::default(), "0").await.err().unwrap();
    assert!(crate::explain(&watch).contains("did not answer"), "{watch}");
    let counted = "rest_client_requests_total{code=\"<error>\",method=\"GET\",host=\"host:1\"} 2";
    assert!(metrics.encode().contains(counted), "{}", metrics.encode());
}

#[tokio::test(start_paused = true)]
async fn an_answer_has_to_be_whole_in_time_and_a_silent_watch_ends() {
    let metrics = Arc::new(Metrics::default());
    let limits = Limits { timeout: Duration::from_secs(5), ..Limits::default() };
    let event =
        r#"{"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"1"}}}"#;
    let client = client(&limits, &metrics, move || Some(Endless(Some(format!("{event}\n").into()))));
    let api = Api::<ConfigMap>::all(client);
    let start = Instant::now();
    let error = api.get("it").await.unwrap_err();
    assert!(crate::explain(&error).contains("within 5s"), "{error}");
    assert_eq!(start.elapsed().as_secs(), 5);
    let start = Instant::now();
    let events: Vec<_> = api.watch(&WatchParams::default(), "0").await.unwrap().try_collect().await.unwrap();
    assert_eq!((events.len(), start.elapsed()), (1, WATCH_IDLE), "it ends without an error");
}

#[tokio::test(start_paused = true)]
async fn requests_wait_for_their_turn_and_leases_do_not() {
    let metrics = Arc::new(Metrics::default());
    let limits = Limits { qps: 2.0, burst: 1, ..Limits::default() };
    let client = client(&limits, &metrics, || Some(http_body_util::Full::from("{}")));
    let (start, lease) = (Instant::now(), "/apis/coordination.k8s.io/v1/namespaces/a/leases/it");
    for (path, at) in [("/a", 0), ("/b", 500), (lease, 500), ("/c", 1_000), (lease, 1_000)] {
        client.request_text(Request::get(path).body(vec![]).unwrap()).await.unwrap();
        assert_eq!(start.elapsed().as_millis(), at, "{path}");
    }
    assert!(metrics.encode().contains("{code=\"200\",method=\"GET\",host=\"host:1\"} 5"));
}

#[test]
fn what_has_no_end_is_known_by_its_address() {
    for (uri, expected) in [
        ("/api/v1/pods?&watch=true&timeoutSeconds=290", BodyLength::Watch),
        ("/api/v1/pods?&limit=500", BodyLength::Short),
        ("/api/v1/namespaces/a/pods/b/log?follow=true", BodyLength::Stream),
        ("/api/v1/namespaces/a/pods/b/log", BodyLength::Short),
        ("/api/v1/namespaces/a/pods/b/exec?command=ls", BodyLength::Stream),
    ] {
        assert_eq!(body_length(&uri.parse().unwrap()), expected, "{uri}");
    }
}

#[tokio::test]
async fn a_real_connection_says_who_it_is_and_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(Mutex::new(String::new()));
    tokio::spawn({
        let heard = heard.clone();
        async move {
            let (mut tcp, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = tcp.read(&mut buffer).await {
                heard.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..n]));
                let _ = tcp.flush().await;
            }
        }
    });
    let metrics = Arc::new(Metrics::default());
    let limits = Limits { timeout: Duration::from_millis(200), ..Limits::default() };
    let config = Config::new(format!("http://{address}").parse().unwrap());
    let client = with_config(config, IDENTITY, &limits, &metrics).unwrap();
    let error = client.apiserver_version().await.unwrap_err();
    assert_eq!(crate::explain(&error), format!("the API server at {address} did not answer GET /version within 200ms"));
    let heard = heard.lock().unwrap().clone();
    assert!(heard.contains("user-agent: it/1.2.3 ("), "{heard}");
    drop(client);
    let config = Config::new("http://127.0.0.1:9".parse().unwrap()); // no server listens there
    let error = with_config(config, IDENTITY, &limits, &metrics).unwrap().apiserver_version().await.unwrap_err();
    let error = crate::explain(&error).to_lowercase();
    assert!(error.starts_with("cannot reach the api server at 127.0.0.1:9: "), "{error}");
    assert!(error.contains("connection refused"), "{error}");
}
