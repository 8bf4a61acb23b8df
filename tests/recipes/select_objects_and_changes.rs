use crate::sites::{Running, SITES, cluster, reconciled, site, until};
use operator::controller::select_objects_and_changes::run;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

fn labelled(name: &str, namespace: &str, tier: &str) -> Value {
    let mut site = site(name, json!({}));
    site["metadata"]["namespace"] = json!(namespace);
    site["metadata"]["labels"] = json!({ "tier": tier });
    site
}

#[tokio::test]
async fn only_what_is_selected_is_reconciled() {
    let cluster = cluster(&[
        labelled("shop", "default", "production"),
        labelled("system", "kube-system", "production"),
        labelled("test", "default", "test"),
    ]);
    let running = Running::start(&cluster, run);
    let is = |count| reconciled(&running.manager) == count;
    until("reconciled", || is(1)).await;
    cluster.edit_json(SITES, "default", "shop", |it| it["metadata"]["labels"]["color"] = json!("red"));
    cluster.edit_json(SITES, "default", "test", |it| it["spec"]["domains"] = json!(["a.com"]));
    sleep(Duration::from_millis(500)).await;
    assert!(is(1), "neither change is selected");
    cluster.edit_json(SITES, "default", "shop", |it| it["metadata"]["annotations"] = json!({ "color": "red" }));
    until("annotated", || is(2)).await;
    cluster.edit_json(SITES, "default", "shop", |it| it["spec"]["domains"] = json!(["a.com"]));
    until("edited", || is(3)).await;
    running.stop().await;
}
