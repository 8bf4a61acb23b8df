//! How the process ends: well when it is told to, with what to do about it when it cannot begin.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::sleep;

use crate::{lab::Lab, operator::Operator};

pub async fn without_its_crd_the_operator_says_so_and_ends(lab: Arc<Lab>) {
    let ground = lab.own_ground("missing", false).await;
    ground.install_without("CustomResourceDefinition").await;
    let mut operator = Operator::start(&ground, "manager").await;
    let end = operator.ended(10).await;
    assert_eq!(end.code(), Some(1), "{}", operator.log());
    let said = operator.said(" ERROR ");
    assert_eq!(said.len(), 1, "{}", operator.log());
    assert!(said[0].contains("memcacheds.cache.example.com"), "{}", said[0]);
    assert!(said[0].contains("operator-rs install"), "{}", said[0]);
}

pub async fn the_operator_ends_well_in_the_middle_of_work(lab: Arc<Lab>) {
    let ground = lab.ground("ends").await;
    let operator = Operator::start(&ground, "manager").await;
    operator.until_said("leading", 30).await;
    for it in 0..20 {
        ground.memcached(&format!("m{it}"), 1).await;
    }
    operator.stop().await;

    // Within a reconcile that takes 3 seconds.
    let ground = lab.unruly_ground("slow").await;
    let operator = Operator::start(&ground, "manager").await;
    operator.until_said("leading", 30).await;
    let mut object = ground.memcached_of("slow", 1);
    object["metadata"]["annotations"] = json!({ "trial": "wait" });
    ground.server.apply(&object).await;
    sleep(Duration::from_secs(1)).await;
    operator.stop().await;
}
