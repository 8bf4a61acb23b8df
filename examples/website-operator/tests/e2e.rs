//! Tests of the operator against a real API server, with the operator's own account. `operator-rs test` starts the API
//! server; without one, the tests are skipped.

#[path = "support/live.rs"]
mod live;

use live::{Live, samples};

#[tokio::test]
async fn every_sample_becomes_available() {
    let Some(live) = Live::connect("every_sample_becomes_available").await else { return };
    live.run_pods();
    let running = live.start(operator::all());
    for sample in samples() {
        let object = live.create(&sample).await;
        let generation = object.metadata.generation;
        live.wait(&object, "available", |it| {
            let status = &it.data["status"];
            let mut conditions = status["conditions"].as_array().into_iter().flatten();
            status["observedGeneration"].as_i64() == generation
                && conditions.any(|it| it["type"] == "Available" && it["status"] == "True")
        })
        .await;
        live.delete(&object).await;
    }
    running.stop().await;
}
