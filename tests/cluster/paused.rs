//! The annotation that pauses an object, while people edit what it owns, and until it is deleted.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{Ground, found, is},
    lab::Lab,
    operator::Operator,
    security::{reader, scrape},
};

pub async fn a_paused_object_is_left_alone_until_it_is_resumed(lab: Arc<Lab>) {
    let ground = lab.ground("paused").await;
    let operator = Operator::start(&ground, "manager").await;
    let server = &ground.server;
    let token = reader(&ground).await;
    ground.memcached("a", 2).await;
    ground.memcached("other", 1).await;
    ground.until_available("a", 60).await;
    ground.until_available("other", 60).await;
    let (at, deployment) = (ground.at("a"), ground.deployment_at("a"));

    pause(&ground, &at, true).await;
    let object = server.until(&at, 10, "paused", |it| is(it, "Paused", "True")).await;
    let message =
        "paused by the annotation `example.com/paused`: remove it to reconcile the object";
    assert_eq!(found(&object, "Paused").expect("it is")["message"], message);
    assert!(is(&object, "Available", "True"), "the other conditions stay: {object:#}");
    // The event is sent after the condition.
    let until = tokio::time::Instant::now() + Duration::from_secs(10);
    let mut events = ground.events("a").await;
    while count(&events, "Paused") == 0 && tokio::time::Instant::now() < until {
        sleep(Duration::from_millis(100)).await;
        events = ground.events("a").await;
    }
    assert_eq!(count(&events, "Paused"), 1, "{events:?}");

    // Neither an edit of its Deployment, nor of its own spec, nor the deletion of the Deployment changes anything.
    let (since, reconciled) = (ground.calls().len(), reconciles(&operator, &token).await);
    server.merge(&deployment, json!({ "spec": { "replicas": 5 } })).await;
    server.merge(&at, json!({ "spec": { "size": 3 } })).await;
    sleep(Duration::from_secs(3)).await;
    assert_eq!(server.get(&deployment).await.expect("it is there")["spec"]["replicas"], 5);
    server.delete(&deployment).await;
    server.until_gone(&deployment, 10).await;
    sleep(Duration::from_secs(2)).await;
    assert!(server.get(&deployment).await.is_none());
    // The condition is of the new generation.
    let writes = ground.writes(since);
    assert_eq!(writes.len(), 1, "{writes:?}");
    assert!(writes[0].contains(&format!("{at}/status?")), "{writes:?}");
    assert_eq!(reconciles(&operator, &token).await, reconciled);
    assert_eq!(ground.events("a").await, events);
    // The others go on.
    let other = ground.deployment_at("other");
    server.merge(&other, json!({ "spec": { "replicas": 5 } })).await;
    server.until(&other, 10, "of 1 replica again", |it| it["spec"]["replicas"] == 1).await;

    pause(&ground, &at, false).await;
    let object = ground.until_available("a", 60).await;
    assert_eq!(found(&object, "Paused"), None, "{object:#}");
    assert_eq!(server.get(&deployment).await.expect("it is there")["spec"]["replicas"], 3);

    // It has no finalizer: it goes at once, and its Deployment with it.
    pause(&ground, &at, true).await;
    server.until(&at, 10, "paused", |it| is(it, "Paused", "True")).await;
    server.delete(&at).await;
    server.until_gone(&at, 10).await;
    server.until_gone(&deployment, 60).await;
    assert_eq!([operator.said(" WARN "), operator.said(" ERROR ")].concat(), [""; 0]);
    operator.stop().await;
}

/// Pauses the object at this path, or resumes it.
pub async fn pause(ground: &Ground, at: &str, paused: bool) {
    let value = if paused { json!("true") } else { Value::Null };
    let patch = json!({ "metadata": { "annotations": { "example.com/paused": value } } });
    ground.server.merge(at, patch).await;
}

fn count(events: &[(String, String)], reason: &str) -> usize {
    events.iter().filter(|it| **it == ("Normal".to_owned(), reason.to_owned())).count()
}

/// How many reconciles the operator has counted.
async fn reconciles(operator: &Operator, token: &str) -> u64 {
    let (code, text) = scrape(operator, None, Some(token)).await;
    assert_eq!(code, 200);
    let mut lines =
        text.lines().filter(|it| it.starts_with("controller_runtime_reconcile_total{")).peekable();
    assert!(lines.peek().is_some(), "{text}");
    let number = |it: &str| it.rsplit(' ').next().and_then(|it| it.parse::<u64>().ok());
    lines.map(|it| number(it).expect("it ends with a number")).sum()
}
