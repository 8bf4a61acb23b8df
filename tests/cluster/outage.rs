//! The API server goes away for half a minute, and comes back.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{lab::Lab, operator::Operator};

pub async fn an_api_server_that_comes_back_is_found_again(lab: Arc<Lab>) {
    let ground = lab.own_ground("outage", true).await;
    ground.install().await;
    let token = ground.token().await;
    let mut single = Operator::start_with(&ground, "single", &token, |it| {
        // Who leads has to stop when it cannot say so any more.
        it.retain(|it| it != "--leader-elect");
    })
    .await;
    // The other one leads; elsewhere, so that both can be looked at.
    let elsewhere = |it: &mut Vec<String>| it.push("--watch-namespace=elsewhere".into());
    ground.server.namespace("elsewhere").await;
    let mut leader = Operator::start_with(&ground, "leader", &token, elsewhere).await;
    leader.until_said("leading", 30).await;
    ground.memcached("before", 1).await;
    ground.until_available("before", 60).await;
    let lines = single.log().lines().count();

    ground.plane.kill_server();
    sleep(Duration::from_secs(30)).await;
    assert!(single.runs(), "{}", single.log());
    // Somebody else may lead by now, so this one has to go. Whoever started it starts it again.
    assert_eq!(leader.ended(1).await.code(), Some(1), "{}", leader.log());
    assert_eq!(leader.said(" ERROR ").len(), 1, "{}", leader.log());
    assert_eq!(leader.said("lost the Lease").len(), 1, "{}", leader.log());
    ground.plane.start_server().await;
    let leader = Operator::start_with(&ground, "leader-again", &token, elsewhere).await;
    ground.memcached("after", 1).await;
    let made = |it: &Value| !it.is_null();
    ground.server.until(&ground.deployment_at("after"), 20, "made", made).await;
    // The watch of Deployments, too.
    ground
        .server
        .merge(&ground.deployment_at("before"), json!({ "spec": { "replicas": 4 } }))
        .await;
    let back = |it: &Value| it["spec"]["replicas"] == 1;
    ground.server.until(&ground.deployment_at("before"), 20, "put back", back).await;
    // When its pods are ready is up to the control plane's other parts, which come back later.
    let told = |it: &Value| it["status"]["observedGeneration"] == 1;
    ground.server.until(&ground.at("after"), 30, "reconciled", told).await;

    assert!(single.runs(), "{}", single.log());
    assert_eq!(single.said(" ERROR "), [""; 0]);
    let more = single.log().lines().count() - lines;
    assert!(more < 30, "{more} lines\n{}", single.log());
    single.stop().await;
    leader.until_said("leading", 30).await;
    leader.stop().await;
}
