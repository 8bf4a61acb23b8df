//! Nobody answers the webhooks for a while.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{OTHER, STORED, SharedLab, Stage, at, require, stop};
use crate::server::{Answer, JSON};

pub async fn an_operator_that_is_gone_stops_writes_and_no_deletion(lab: SharedLab) {
    let (stage, mut operator) = Stage::ready(&lab, "webhooks-down").await;
    let port = stage.port;
    for name in ["a", "b"] {
        let spec = json!({ "title": "it", "note": "hello" });
        require(&stage.apply("one", STORED, name, spec).await, 201);
        assert_eq!(stage.get(OTHER, name).await.body["spec"]["remark"], "hello");
    }

    operator.signal("KILL");
    operator.ended(5).await;
    let told = |answer: &Answer, what: &str| {
        require(answer, 500);
        let message = answer.body["message"].as_str().unwrap_or_default();
        assert!(message.contains(what) && message.contains("connection refused"), "{message}");
    };
    let spec = json!({ "title": "other" });
    let admission = "failed calling webhook \"mmemcached-v1alpha1.cache.kb.io\"";
    told(&stage.apply("one", STORED, "a", spec.clone()).await, admission);
    told(&stage.apply("one", STORED, "new", spec.clone()).await, admission);
    let conversion = "conversion webhook for cache.example.com/v1alpha1, Kind=Memcached failed";
    told(&stage.get(OTHER, "a").await, conversion);
    let all = |version: &str| at(version, "").trim_end_matches('/').to_owned();
    // A list in the other version may come from the API server's cache, of objects that were converted before.
    assert_eq!(stage.get(STORED, "a").await.body["spec"]["note"], "hello");
    assert_eq!(stage.server.list(&all(STORED)).await.len(), 2);
    require(&stage.ask("DELETE", &at(STORED, "b"), JSON, Value::Null).await, 200);
    require(&stage.get(STORED, "b").await, 404);

    let operator = stage.operator("again", port).await;
    // The API server waits a little before it connects again.
    let mut tries = 0;
    while stage.apply("one", OTHER, "a", json!({ "title": "new" })).await.code != 200 {
        tries += 1;
        assert!(tries < 50, "writes work again");
        sleep(Duration::from_millis(100)).await;
    }
    let answer = stage.get(STORED, "a").await;
    assert_eq!(
        answer.body["spec"],
        json!({ "title": "new", "size": 1, "containerPort": 11211, "tier": "small" })
    );
    assert_eq!(stage.server.list(&all(OTHER)).await.len(), 1);
    require(&stage.apply("one", STORED, "new", spec).await, 201);
    println!("webhooks answer {tries} tries after the operator is ready again");
    stop(operator).await;
}
