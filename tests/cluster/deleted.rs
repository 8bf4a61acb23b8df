//! Objects that are deleted while they are reconciled.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{ground::Ground, lab::Lab, operator::Operator};

pub async fn an_object_deleted_in_mid_reconcile_leaves_nothing(lab: Arc<Lab>) {
    let ground = lab.unruly_ground("deleted").await;
    let operator = Operator::start(&ground, "manager").await;
    ground.memcached("calm", 1).await;
    ground.until_available("calm", 60).await;
    let mut object = ground.memcached_of("gone", 1);
    object["metadata"]["annotations"] = json!({ "trial": "wait" });
    ground.server.apply(&object).await;
    // It is seen now, and waits for 3 seconds before it does anything.
    sleep(Duration::from_secs(1)).await;
    assert!(ground.server.get(&ground.deployment_at("gone")).await.is_none());
    ground.server.delete(&ground.at("gone")).await;
    ground.server.until_gone(&ground.at("gone"), 10).await;
    // What it makes afterwards has an owner that is gone, and goes too.
    sleep(Duration::from_secs(4)).await;
    nothing_is_left(&ground, 1).await;
    assert_eq!(failures(&operator), [""; 0]);
    operator.stop().await;
}

pub async fn forty_objects_deleted_at_once_leave_nothing(lab: Arc<Lab>) {
    let ground = lab.ground("forty").await;
    let operator = Operator::start(&ground, "manager").await;
    operator.until_said("leading", 30).await;
    for it in 0..40 {
        ground.memcached(&format!("m{it}"), 1).await;
    }
    for it in 0..40 {
        ground.server.delete(&ground.at(&format!("m{it}"))).await;
    }
    ground.memcached("calm", 1).await;
    ground.until_available("calm", 90).await;
    nothing_is_left(&ground, 1).await;
    assert_eq!(failures(&operator), [""; 0]);
    operator.stop().await;
}

/// But for what belongs to those that are still there.
async fn nothing_is_left(ground: &Ground, objects: usize) {
    for list in ["deployments", "replicasets"] {
        let path = format!("/apis/apps/v1/namespaces/{}/{list}", ground.namespace);
        let few = |it: &Value| it["items"].as_array().is_some_and(|it| it.len() == objects);
        ground.server.until(&path, 90, "without leftovers", few).await;
    }
}

fn failures(operator: &Operator) -> Vec<String> {
    [" WARN ", " ERROR ", "interrupted", "failed"].iter().flat_map(|it| operator.said(it)).collect()
}
