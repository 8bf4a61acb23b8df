//! An operator starts that reads a kind in a version which it has to convert itself, behind a Service that sends
//! requests to ready pods only, and on an API server that has lost its caches: it has to convert before it has read.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{OTHER, STORED, SharedLab, Stage, at, free_port, require, rotation::Service};
use crate::{
    operator::Operator,
    server::{JSON, Server, path},
};

pub async fn an_operator_starts_that_has_to_convert_what_it_reads(lab: SharedLab) {
    let (service, port) = Service::start().await;
    let mut stage = Stage::unruled(&lab, "start", port).await;
    stage.review_the_status();
    // Its controllers read both versions here.
    stage.ground.watched = Some("default".into());
    let first = start(&stage, &service, "first").await;
    stage.trust(&stage.authority()).await;
    require(&stage.apply("one", STORED, "old", json!({ "title": "it" })).await, 201);
    until_reconciled(&stage.server, "old").await;

    drop(first);
    stage.ground.plane.kill_server();
    stage.ground.plane.start_server().await;
    until_not_converted(&stage, OTHER).await;
    let second = start(&stage, &service, "second").await;

    // From now on the other version is stored, so that the controller of the first one needs the conversion.
    let crd = path(stage.ground.object("CustomResourceDefinition"));
    let store = |object: &mut Value| {
        for version in object["spec"]["versions"].as_array_mut().expect("it has versions") {
            version["storage"] = json!(version["name"] == OTHER);
        }
    };
    stage.server.edit(&crd, store).await;
    sleep(Duration::from_secs(1)).await;
    require(&stage.apply("one", OTHER, "new", json!({ "title": "it" })).await, 201);
    until_reconciled(&stage.server, "new").await;

    drop(second);
    stage.server.merge(&crd, json!({ "spec": { "names": { "categories": ["trial"] } } })).await;
    until_not_converted(&stage, STORED).await;
    let third = start(&stage, &service, "third").await;
    require(&stage.apply("one", STORED, "newest", json!({ "title": "it" })).await, 201);
    until_reconciled(&stage.server, "newest").await;
    drop(third);
}

/// Starts an operator behind the Service, and waits until the caches of all controllers are filled.
async fn start(stage: &Stage, service: &Service, name: &str) -> Operator {
    let (start, port) = (Instant::now(), free_port());
    let edit = |words: &mut Vec<String>| {
        // The one before it has not released the Lease.
        words.retain(|word| word != "--leader-elect");
        words.push("--cache-sync-timeout=30s".into());
    };
    let mut operator = stage.start_operator(name, port, edit).await;
    let manager = &stage.ground.object("Deployment")["spec"]["template"]["spec"]["containers"][0];
    let probe = manager["readinessProbe"]["httpGet"]["path"].as_str().expect("it has a probe");
    let is_asked = !stage.is_published_before_it_is_ready();
    service.lead_to_ready(port, is_asked.then(|| (operator.probes.clone(), probe.to_owned())));
    while operator.said("caches are filled").len() < 2 {
        assert!(operator.runs(), "{}", operator.log());
        assert!(start.elapsed() < Duration::from_secs(60), "{}", operator.log());
        sleep(Duration::from_millis(50)).await;
    }
    println!("{name}: caches are filled after {:.1} s", start.elapsed().as_secs_f64());
    operator
}

/// Waits until a list in this version fails: it has to be converted, and the API server has no cache of it.
async fn until_not_converted(stage: &Stage, version: &str) {
    let objects = at(version, "");
    let limit = Instant::now() + Duration::from_secs(20);
    while stage.ask("GET", objects.trim_end_matches('/'), JSON, Value::Null).await.code == 200 {
        assert!(Instant::now() < limit, "objects of {version} are listed without the operator");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until the controller has written the status, which the webhooks have reviewed.
async fn until_reconciled(server: &Server, name: &str) {
    let is_reconciled = |object: &Value| object["status"]["observedGeneration"].is_number();
    server.until(&at(OTHER, name), 30, "reconciled", is_reconciled).await;
}
