//! Webhooks of both servers: the same reviews are made in the same order, and their answers have the same effect.

use std::{
    convert::Infallible,
    net::TcpListener,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Bytes, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use k8s_openapi::ByteString;
use operator_rs_testing::Cluster;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{PrivateKeyDer, pem::PemObject as _},
};
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;

use crate::{
    Lab,
    random::{JSON, Step},
    side::Side,
};

const MANIFESTS: &str = include_str!("webhooks.yaml");

/// The reviews that were made, in order.
pub type Log = Arc<Mutex<Vec<Value>>>;

pub fn in_memory(cluster: Cluster) -> (Cluster, Log) {
    let log = Log::default();
    let reviews = log.clone();
    let service = tower::service_fn(move |request: Request<Bytes>| {
        let answer = answer(&reviews, request.uri().path(), request.body());
        async move { Ok::<_, Infallible>(Response::new(Bytes::from(answer.to_string()))) }
    });
    (cluster.with_webhooks(MANIFESTS, service), log)
}

/// Serves the webhooks to a real server, and lets it know of them.
pub fn really(side: &Side) -> Log {
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let key = PrivateKeyDer::from_pem_slice(pair.signing_key.serialize_pem().as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = config.with_single_cert(vec![pair.cert.der().clone()], key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (port, log) = (listener.local_addr().unwrap().port(), Log::default());
    let reviews = log.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(serve(listener, TlsAcceptor::from(Arc::new(config)), reviews));
    });
    let documents: Vec<Value> = serde_saphyr::from_multiple(MANIFESTS).unwrap();
    for mut document in documents {
        for webhook in document["webhooks"].as_array_mut().unwrap() {
            let path = webhook["clientConfig"]["service"]["path"].as_str().unwrap();
            let url = format!("https://localhost:{port}{path}");
            webhook["clientConfig"] = json!({ "url": url, "caBundle": ByteString(pair.cert.pem().into_bytes()) });
        }
        let plural = format!("{}s", document["kind"].as_str().unwrap().to_lowercase());
        let path = format!("/apis/admissionregistration.k8s.io/v1/{plural}");
        let request = Request::post(path).header("content-type", JSON).body(document.to_string().into_bytes()).unwrap();
        side.runtime.block_on(side.client.request::<Value>(request)).unwrap();
    }
    std::thread::sleep(Duration::from_secs(2)); // until it has seen them
    log
}

/// The differences where a webhook undoes a change in a later second: a new time alone is not stored, unless it moves
/// the entry of its manager behind that of another one.
pub fn differences_by_time(lab: &Lab) -> Vec<String> {
    let object =
        json!({ "apiVersion": "test.dev/v1", "kind": "Widget", "metadata": { "name": "a" }, "spec": { "size": 3 } });
    let step = |method, name: &str, manager: &str, content, body| {
        let path = format!("/apis/test.dev/v1/namespaces/NS/widgets{name}?fieldManager={manager}");
        Step { method, path, content, body }
    };
    let create = step("POST", "", "one", JSON, object);
    let patch = |manager, body| step("PATCH", "/a", manager, "application/merge-patch+json", body);
    let (label, undone) = (json!({ "metadata": { "labels": { "m": "z" } } }), json!({ "spec": { "size": 3 } }));
    let alone = vec![create.clone(), patch("one", undone.clone())];
    let moved = vec![create, patch("two", label), patch("one", undone)];
    let found = [alone, moved].into_iter().filter_map(|steps| lab.play_slowly(&steps, Duration::from_millis(1100)));
    found.map(|(at, found)| format!("step {at} of a change that a webhook undoes: {}", found.join("\n  "))).collect()
}

/// The reviews of the real server without those that it makes twice: it asks again about a deletion that takes away the
/// last finalizer, and it begins an update or a patch with what its cache has, which may be older than what is stored.
pub fn without_repeated(mut theirs: Vec<Value>, ours: &[Value]) -> Vec<Value> {
    theirs.dedup_by(|a, b| a["request"]["operation"] == "DELETE" && a == b);
    let more = theirs.len().saturating_sub(ours.len());
    let is_update = theirs.first().is_some_and(|it| it["request"]["operation"] == "UPDATE");
    let begins_again = theirs.get(more).is_none_or(|it| it["path"] == theirs[0]["path"]);
    if is_update && begins_again { theirs.split_off(more) } else { theirs }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, log: Log) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    loop {
        let (tcp, _) = listener.accept().await.unwrap();
        let (tls, log) = (tls.clone(), log.clone());
        tokio::spawn(async move {
            let Ok(tls) = tls.accept(tcp).await else { return };
            let service = service_fn(async |request: Request<hyper::body::Incoming>| {
                let (head, body) = request.into_parts();
                let answer = answer(&log, head.uri.path(), &body.collect().await.unwrap().to_bytes());
                let response = Response::builder().header("content-type", JSON);
                Ok::<_, Infallible>(response.body(Full::new(Bytes::from(answer.to_string()))).unwrap())
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(tls), service).await;
        });
    }
}

fn answer(log: &Log, path: &str, body: &[u8]) -> Value {
    let mut review: Value = serde_json::from_slice(body).unwrap();
    let request = &review["request"];
    let mut response = match path {
        "/one" => patch(&one(&request["object"])),
        "/two" => patch(&two(&request["object"])),
        "/check" => check(request),
        _ => json!({ "allowed": true, "patchType": "unknown" }),
    };
    response["uid"] = request["uid"].clone();
    for name in ["uid", "userInfo"] {
        review["request"].as_object_mut().unwrap().remove(name);
    }
    log.lock().unwrap().push(json!({ "path": path, "request": review["request"].take() }));
    json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response })
}

fn patch(steps: &[Value]) -> Value {
    match steps {
        [] => json!({ "allowed": true }),
        steps => {
            let patch = ByteString(json!(steps).to_string().into_bytes());
            json!({ "allowed": true, "patchType": "JSONPatch", "patch": patch })
        }
    }
}

/// Depends on what the other one changes.
fn one(object: &Value) -> Vec<Value> {
    match object["spec"]["size"].as_u64() {
        Some(size) => vec![json!({ "op": "add", "path": "/spec/note", "value": size.to_string() })],
        None => vec![],
    }
}

fn two(object: &Value) -> Vec<Value> {
    let mut steps = vec![];
    if object.is_object() && object["spec"].is_null() {
        steps.push(json!({ "op": "add", "path": "/spec", "value": {} }));
    }
    if object["spec"]["size"] == 1 || object["spec"]["size"] == 3 {
        steps.push(json!({ "op": "replace", "path": "/spec/size", "value": 2 }));
        steps.push(json!({ "op": "add", "path": "/metadata/annotations", "value": { "two": "2" } }));
    }
    if object["spec"]["name"] == "x" {
        steps.push(json!({ "op": "add", "path": "/spec/members", "value": [{ "name": "two" }] }));
        steps.push(json!({ "op": "add", "path": "/status", "value": { "phase": "Two" } }));
    }
    steps
}

fn check(request: &Value) -> Value {
    let object = &request["object"];
    let denied = |status: Value| json!({ "allowed": false, "status": status });
    if object["spec"]["name"] == "y" {
        return denied(json!({ "message": "y", "reason": "Forbidden", "code": 403 }));
    }
    if object["data"]["a"] == "2" {
        return json!({ "allowed": false });
    }
    if object["status"]["phase"] == "Failed" {
        let cause = json!({ "reason": "FieldValueInvalid", "field": "status.phase", "message": "no" });
        let details = json!({ "name": "n", "group": "g", "kind": "k", "causes": [cause] });
        return denied(json!({ "message": "failed", "reason": "Invalid", "code": 422, "details": details }));
    }
    if request["operation"] == "DELETE" && request["oldObject"]["metadata"]["labels"]["m"] == "z" {
        return denied(json!({ "reason": "Conflict", "code": 409 }));
    }
    json!({ "allowed": true, "warnings": ["checked"] })
}
