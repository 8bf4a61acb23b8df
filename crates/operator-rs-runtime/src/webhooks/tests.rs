use super::*;
use crate::Identity;
use http::StatusCode;
use kube::Client;
use tower::ServiceExt;

fn operator() -> Operator {
    let nobody =
        tower::service_fn(async |_: Request<kube::client::Body>| -> Result<Response<Full<Bytes>>, Infallible> {
            unreachable!("no request is sent")
        });
    Operator::new(Identity { name: "operator", version: "1" }, Client::new(nobody, "default"))
}

/// A webhook that answers with what it was sent.
fn echo(path: &str) -> Start {
    let review = Arc::new(|_, call: Call| async move { Response::new(call.body) }.boxed());
    Webhook::Admission { path: path.into(), review }.into()
}

fn post(path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
    Request::post(path).header("content-type", "application/json").body(body.into()).unwrap()
}

async fn ask(request: Request<Bytes>) -> (StatusCode, String) {
    let answer = webhook_service([echo("/a"), echo("/b")], &operator()).oneshot(request).await.unwrap();
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
    let _ = webhook_service([echo("/a"), echo("/a")], &operator());
}
