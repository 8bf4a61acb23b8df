//! Two replicas that make their own certificate, behind a Service that the API server resolves: no request fails while
//! the authority and the certificate are replaced, and what somebody takes away is back soon.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    STORED, SharedLab, at, free_port,
    rotation::{Service, Traffic},
    stop,
};
use crate::{
    ground::Ground,
    operator::Operator,
    project::Project,
    security::{der, probe, reader, scrape},
    server::{APPLY, Server, path},
};

const SERVING: &str = "serving the webhooks' certificate";

pub async fn no_request_fails_while_the_operator_renews_its_own_certificate(lab: SharedLab) {
    let mut ground = lab.own_webhook_ground("certificates").await;
    ground.watched = Some("elsewhere".into());
    let (service, port) = Service::start().await;
    ground.objects = tokio::task::spawn_blocking(Project::self_managed).await.expect("it is made");
    ground.objects.iter_mut().for_each(|it| lead_here(it, port));
    ground.install().await;
    ground.server.namespace("elsewhere").await;
    let ports = [free_port(), free_port()];
    service.lead_to(&ports);
    let start = Instant::now();
    let (first, second) =
        tokio::join!(replica(&ground, "first", ports[0]), replica(&ground, "second", ports[1]));
    let replicas = [first, second];
    println!("ready after {:.1} s", start.elapsed().as_secs_f64());
    until_called(&ground.server).await;
    let secret = secret(&ground).await;
    assert_eq!(authorities(&secret).len(), 1);
    metrics_are_verified(&ground, &replicas, &secret).await;

    let traffic = Traffic::start(&ground.server);
    sleep(Duration::from_secs(3)).await;
    let (start, seen) = (Instant::now(), served(&replicas));
    ground
        .server
        .merge(&path(ground.object("Secret")), json!({ "data": { "ca.key": null } }))
        .await;
    until(60, "a new authority signs", || served(&replicas) == seen.map(|it| it + 1)).await;
    println!("another authority and certificate after {:.1} s", start.elapsed().as_secs_f64());
    let rotated = self::secret(&ground).await;
    assert_eq!(authorities(&rotated).len(), 2, "the old one is trusted still");
    assert_ne!(rotated["data"]["tls.crt"], secret["data"]["tls.crt"]);

    let (start, seen) = (Instant::now(), served(&replicas));
    ground
        .server
        .merge(&path(ground.object("Secret")), json!({ "data": { "tls.crt": null } }))
        .await;
    until(30, "a new certificate is served", || served(&replicas) == seen.map(|it| it + 1)).await;
    println!("another certificate after {:.1} s", start.elapsed().as_secs_f64());
    let (requests, failures, took) = traffic.end_after(Duration::from_secs(60)).await;
    println!("{requests} requests in {took} s, {} failed", failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(requests > 500, "{requests} are some traffic");

    what_is_taken_away_is_back(&ground, &replicas).await;
    for it in replicas {
        println!("{:?} MiB, and the most", it.memory());
        assert!(it.memory().1 < 64.0, "its pod may have 64 MiB");
        assert_eq!(it.said(" ERROR "), [""; 0]);
        stop(it).await;
    }
}

/// While no request needs the webhooks: somebody deletes what is in the Secret, then replaces what a configuration trusts.
async fn what_is_taken_away_is_back(ground: &Ground, replicas: &[Operator; 2]) {
    let traffic = Traffic::start(&ground.server);
    let (start, seen) = (Instant::now(), served(replicas));
    ground.server.merge(&path(ground.object("Secret")), json!({ "data": null })).await;
    until(60, "all is made anew", || served(replicas) == seen.map(|it| it + 1)).await;
    println!(
        "after the Secret was emptied, all is new after {:.1} s",
        start.elapsed().as_secs_f64()
    );
    let (requests, failures, _) = traffic.end_after(Duration::ZERO).await;
    assert!(failures.is_empty(), "{requests}: {failures:#?}");

    let secret = secret(ground).await;
    let other = ground.plane.address().1;
    let other = std::fs::read_to_string(other).expect("it is there");
    let other = json!(k8s_openapi::ByteString(other.into_bytes()));
    let configuration = path(ground.object("ValidatingWebhookConfiguration"));
    let mut object = ground.server.get(&configuration).await.expect("it is there");
    object["webhooks"][0]["clientConfig"]["caBundle"] = other;
    let start = Instant::now();
    ground.server.merge(&configuration, json!({ "webhooks": object["webhooks"] })).await;
    let is_back =
        |it: &Value| it["webhooks"][0]["clientConfig"]["caBundle"] == secret["data"]["ca.crt"];
    ground.server.until(&configuration, 30, "trusted again", is_back).await;
    until_called(&ground.server).await;
    println!("what was replaced is back after {:.1} s", start.elapsed().as_secs_f64());
}

/// Has the API server find the Service at this port of this machine.
fn lead_here(object: &mut Value, port: u16) {
    match object["kind"].as_str().unwrap_or_default() {
        "Service"
            if object["metadata"]["name"]
                .as_str()
                .is_some_and(|it| it.ends_with("webhook-service")) =>
        {
            object["spec"] = json!({ "type": "ExternalName", "externalName": "localhost" });
        }
        "CustomResourceDefinition" => {
            object["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] =
                port.into();
        }
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            let webhooks = object["webhooks"].as_array_mut().expect("it has webhooks");
            webhooks.iter_mut().for_each(|it| it["clientConfig"]["service"]["port"] = port.into());
        }
        _ => {}
    }
}

async fn replica(ground: &Ground, name: &str, port: u16) -> Operator {
    let token = ground.token().await;
    let edit = |it: &mut Vec<String>| it.push(format!("--webhook-port={port}"));
    let mut operator = Operator::start_with(ground, name, &token, edit).await;
    for _ in 0..300 {
        if probe(&operator, "/readyz").await == 200 {
            assert_eq!(operator.said(SERVING).len(), 1, "{}", operator.log());
            return operator;
        }
        assert!(operator.runs(), "{}", operator.log());
        sleep(Duration::from_millis(100)).await;
    }
    panic!("it is not ready\n{}", operator.log());
}

/// Waits until the validator refuses what it has to.
async fn until_called(server: &Server) {
    let refused = json!({
        "apiVersion": format!("cache.example.com/{STORED}"),
        "kind": "Memcached",
        "metadata": { "name": "refused" },
        "spec": { "title": "it", "size": 4 },
    });
    let path = format!("{}?fieldManager=trial&dryRun=All", at(STORED, "refused"));
    for _ in 0..100 {
        let answer = server.ask("PATCH", &path, APPLY, refused.clone()).await;
        if answer.is_ok_and(|it| it.code == 422) {
            return;
        }
        sleep(Duration::from_millis(100)).await;
    }
    panic!("the validator is not called");
}

/// Those who trust the Secret's authority can read the metrics, by the name of their Service.
async fn metrics_are_verified(ground: &Ground, replicas: &[Operator], secret: &Value) {
    let reader = reader(ground).await;
    let authority = der(&text(secret, "ca.crt"));
    for (service, code) in [("metrics-service", 200), ("other-service", 0)] {
        let name = format!("webhook-operator-{service}.{}.svc", ground.system());
        for it in replicas {
            assert_eq!(scrape(it, Some((&name[..], &authority[..])), Some(&reader)).await.0, code);
        }
    }
}

async fn secret(ground: &Ground) -> Value {
    ground.server.get(&path(ground.object("Secret"))).await.expect("the installer has one")
}

fn text(secret: &Value, key: &str) -> String {
    let bytes: k8s_openapi::ByteString =
        serde_json::from_value(secret["data"][key].clone()).expect("the operator has filled it in");
    String::from_utf8(bytes.0).expect("PEM is text")
}

fn authorities(secret: &Value) -> Vec<String> {
    let text = text(secret, "ca.crt");
    text.split_inclusive("-----END CERTIFICATE-----\n").map(str::to_owned).collect()
}

/// How often each has begun to serve another certificate.
fn served(replicas: &[Operator; 2]) -> [usize; 2] {
    [0, 1].map(|it| replicas[it].said(SERVING).len())
}

async fn until(seconds: u64, what: &str, is: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(seconds);
    while !is() {
        assert!(Instant::now() < limit, "{what} within {seconds} s");
        sleep(Duration::from_millis(50)).await;
    }
}
