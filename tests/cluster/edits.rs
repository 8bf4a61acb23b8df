//! What people change by hand in the Deployment of an object.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{lab::Lab, operator::Operator};

pub async fn a_deployment_edited_by_hand_is_put_back(lab: Arc<Lab>) {
    let ground = lab.ground("edits").await;
    let operator = Operator::start(&ground, "manager").await;
    ground.memcached("a", 2).await;
    ground.until_available("a", 60).await;
    let at = ground.deployment_at("a");
    let server = &ground.server;
    let until = async |what: &str, pointer: &'static str, value: &'static str| {
        let as_before =
            |it: &Value| it.pointer(pointer).is_some_and(|it| it.as_str() == Some(value));
        server.until(&at, 10, what, as_before).await;
    };

    server.merge(&at, json!({ "metadata": { "labels": { "team": "blue" }, "annotations": { "team": "blue" } } })).await;
    server.merge(&at, json!({ "spec": { "replicas": 5 } })).await;
    server.until(&at, 10, "of 2 replicas again", |it| it["spec"]["replicas"] == 2).await;

    let image = "/spec/template/spec/containers/0/image";
    let edit = |it: &mut Value| *it.pointer_mut(image).expect("it has one") = json!("evil:1");
    server.edit(&at, edit).await;
    until("of its own image again", image, "memcached:1.6.39-alpine").await;

    let label = |name: &str| json!({ "metadata": { "labels": { name: null } } });
    server.merge(&at, label("app.kubernetes.io/part-of")).await;
    until("labelled again", "/metadata/labels/app.kubernetes.io~1part-of", "cache").await;
    // By this one the watch selects: without it the Deployment looks deleted.
    server.merge(&at, label("app.kubernetes.io/managed-by")).await;
    let managed = "/metadata/labels/app.kubernetes.io~1managed-by";
    until("seen again", managed, "memcached-operator").await;

    // What the operator has no opinion on is not its business.
    sleep(Duration::from_secs(1)).await;
    let found = server.get(&at).await.expect("it is there");
    assert_eq!(found["metadata"]["labels"]["team"], "blue");
    assert_eq!(found["metadata"]["annotations"]["team"], "blue");

    let uid = found["metadata"]["uid"].clone();
    server.delete(&at).await;
    let another = |it: &Value| !it.is_null() && it["metadata"]["uid"] != uid;
    server.until(&at, 10, "made again", another).await;
    ground.until_available("a", 60).await;
    assert_eq!(operator.said(" WARN "), [""; 0]);
    operator.stop().await;
}
