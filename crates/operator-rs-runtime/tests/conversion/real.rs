//! The same applies at a real API server, which asks the same webhook, and at the one in memory.

#[path = "../../../operator-rs-testing/tests/differential/server.rs"]
mod server;

use crate::{caches, cluster, manager};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use kube::Client;
use operator_rs_runtime::Component;
use serde_json::{Value, json};
use server::Server;
use std::{convert::Infallible, env, sync::Arc, time::Duration};
use tokio::net::TcpListener;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
};
use tower::ServiceExt;

/// Serves conversions over TLS; the port and the certificate.
async fn serve(parts: Vec<Component>) -> (u16, String) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let (acceptor, listener) = (TlsAcceptor::from(Arc::new(config)), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let port = listener.local_addr().unwrap().port();
    let service = operator_rs_runtime::webhook_service(parts, &manager());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (acceptor, service) = (acceptor.clone(), service.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let answer = service_fn(move |request: Request<Incoming>| {
                    let service = service.clone();
                    async move {
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.unwrap().to_bytes();
                        let answer = service.oneshot(Request::from_parts(head, body)).await.unwrap();
                        Ok::<Response<_>, Infallible>(answer.map(Full::new))
                    }
                });
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    (port, made.cert.pem())
}

async fn send(client: &Client, method: &str, path: &str, kind: &str, body: &Value) -> Result<Value, kube::Error> {
    let request = Request::builder().method(method).uri(path).header("content-type", kind);
    client.request(request.body(body.to_string().into_bytes()).unwrap()).await
}

/// xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// A write: the version, the query, the content type and the object.
fn step(random: &mut Random, name: &str) -> (String, &'static str, Value) {
    let fields: [&[(&str, [Value; 2])]; 2] = [
        &[
            ("replicas", [json!(1), json!(2)]),
            ("host", [json!("a"), json!("b")]),
            ("port", [json!(1), json!(2)]),
            ("tls", [json!({ "secret": "tls" }), json!({ "secret": "mine" })]),
            ("zones", [json!(["x"]), json!([])]),
        ],
        &[
            ("size", [json!(1), json!(2)]),
            ("address", [json!("a:1"), json!("b:2")]),
            ("secure", [json!(true), json!(true)]),
        ],
    ];
    let nth = random.below(2);
    let version = ["test.dev/v1", "test.dev/v1alpha1"][nth];
    let least = [0, 0, 2][random.below(3)];
    let mut spec = json!({});
    for (name, values) in fields[nth] {
        if random.below(4) + least > 1 {
            spec[name] = values[random.below(2)].clone();
        }
    }
    let manager = ["one", "two", "three"][random.below(3)];
    let body = json!({ "apiVersion": version, "kind": "Cache", "metadata": { "name": name }, "spec": spec });
    let path = format!("/apis/{version}/namespaces/default/caches/{name}?fieldManager={manager}");
    match random.below(5) {
        0 => (path, "application/merge-patch+json", body),
        1 => (path, "application/apply-patch+yaml", body),
        _ => (path + "&force=true", "application/apply-patch+yaml", body),
    }
}

/// What a server answers: the object in both versions, or the code of the refusal.
async fn play(client: &Client, (path, kind, body): &(String, &str, Value)) -> Value {
    if let Err(kube::Error::Api(status)) = send(client, "PATCH", path, kind, body).await {
        return json!({ "code": status.code, "message": status.message });
    }
    let name = &body["metadata"]["name"].as_str().unwrap();
    let mut seen = json!({});
    for version in ["v1", "v1alpha1"] {
        let path = format!("/apis/test.dev/{version}/namespaces/default/caches/{name}");
        let Ok(mut object) = send(client, "GET", &path, "", &Value::Null).await else { continue };
        if let Some(entries) = object["metadata"]["managedFields"].as_array_mut() {
            entries.iter_mut().for_each(|it| it["time"] = Value::Null);
            entries.sort_by_key(Value::to_string); // they were by time, in which a second may have ended for one server
        }
        seen[version] = json!({
            "spec": object["spec"], "generation": object["metadata"]["generation"],
            "managers": object["metadata"]["managedFields"],
        });
    }
    seen
}

/// Waits until the server stores objects of the new CRD in both versions: at first it knows no such resource, and then
/// its storage is not ready (429).
async fn served(client: &Client) {
    let until = tokio::time::Instant::now() + Duration::from_secs(60);
    for version in ["v1", "v1alpha1"] {
        let path = format!("/apis/test.dev/{version}/namespaces/default/caches/probe?fieldManager=probe&dryRun=All");
        let body =
            json!({ "apiVersion": format!("test.dev/{version}"), "kind": "Cache", "metadata": { "name": "probe" } });
        while let Err(kube::Error::Api(status)) =
            send(client, "PATCH", &path, "application/apply-patch+yaml", &body).await
            && [404, 429, 503].contains(&status.code)
        {
            assert!(tokio::time::Instant::now() < until, "{version} is not served: {}", status.message);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

#[tokio::test]
async fn a_real_server_converts_as_the_one_in_memory_does() {
    let Some(server) = Server::start() else { return };
    let real = server.client().await;
    let (port, certificate) = serve(caches()).await;
    let mut crd = cluster::crd();
    let bundle = k8s_openapi::ByteString(certificate.into_bytes());
    crd["spec"]["conversion"]["webhook"]["clientConfig"] =
        json!({ "url": format!("https://localhost:{port}/convert"), "caBundle": bundle });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    send(&real, "POST", path, "application/json", &crd).await.unwrap();
    served(&real).await;

    let memory = cluster::cluster(caches()).client();
    let number = |name: &str, default: u64| env::var(name).map_or(default, |it| it.parse().unwrap());
    let (seed, cases) = (number("SEED", 1), number("CASES", 30));
    let mut compared = 0;
    for case in 0..cases {
        let mut random = Random((seed << 32) + case * 7919 + 1);
        let mut before = Vec::new();
        for _ in 0..12 {
            let step = step(&mut random, &format!("c{case}"));
            let theirs = play(&real, &step).await;
            if theirs["code"] == 422 || theirs["code"] == 404 {
                continue; // nothing is stored; schemas are not validated in memory
            }
            before.push(format!("{} {} {}", step.1, step.0, step.2["spec"]));
            let ours = play(&memory, &step).await;
            assert_eq!(ours, theirs, "case {case}, ours and theirs after\n{}", before.join("\n"));
            compared += 1;
        }
    }
    println!("{compared} writes compared");
    assert!(compared > cases);
    an_object_that_cannot_be_converted_is_corrected_in_its_version(&real).await;
}

/// The object was stored before the version that is stored changed.
async fn an_object_that_cannot_be_converted_is_corrected_in_its_version(client: &Client) {
    store_in(client, "v1alpha1").await;
    let caches = |version: &str| format!("/apis/test.dev/{version}/namespaces/default/caches");
    for name in ["wrong", "unwanted"] {
        let body = json!({
            "apiVersion": "test.dev/v1alpha1", "kind": "Cache", "metadata": { "name": name },
            "spec": { "size": 666, "address": "a:1" },
        });
        send(client, "POST", &caches("v1alpha1"), "application/json", &body).await.unwrap();
    }
    store_in(client, "v1").await;

    // The cache of the new version is never filled, so that a list does not get the message of the conversion.
    send(client, "GET", &caches("v1"), "", &Value::Null).await.unwrap_err();
    let refused =
        send(client, "GET", &format!("{}/wrong", caches("v1")), "", &Value::Null).await.unwrap_err().to_string();
    let way_out = "nobody has 666; if it is stored like this, correct it: `kubectl edit caches.v1alpha1.test.dev wrong";
    assert!(refused.contains(way_out), "{refused}");
    let object = |name: &str| format!("{}/{name}", caches("v1alpha1"));
    let found = send(client, "GET", &object("wrong"), "", &Value::Null).await.unwrap();
    assert_eq!(found["spec"]["size"], 666);
    let patch = json!({ "spec": { "size": 1 } });
    send(client, "PATCH", &object("wrong"), "application/merge-patch+json", &patch).await.unwrap();
    send(client, "DELETE", &object("unwanted"), "", &Value::Null).await.unwrap();
    let until = tokio::time::Instant::now() + Duration::from_secs(60);
    let listed = loop {
        match send(client, "GET", &caches("v1"), "", &Value::Null).await {
            Ok(listed) => break listed,
            Err(error) => assert!(tokio::time::Instant::now() < until, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert!(listed["items"].as_array().unwrap().iter().any(|cache| cache["spec"]["replicas"] == 1));
}

/// Changes the version that is stored, and waits until the server stores objects in it.
async fn store_in(client: &Client, version: &str) {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/caches.test.dev";
    let mut crd = send(client, "GET", path, "", &Value::Null).await.unwrap();
    for declared in crd["spec"]["versions"].as_array_mut().unwrap() {
        declared["storage"] = json!(declared["name"] == version);
    }
    send(client, "PUT", path, "application/json", &crd).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
}
