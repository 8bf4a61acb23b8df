use crate::sites::{Running, cluster, site, until, value};
use operator::controller::react_to_a_secret::run;
use serde_json::json;

#[tokio::test]
async fn a_secret_that_is_created_or_changed_reaches_the_config_map() {
    let cluster = cluster(&[site("shop", json!({ "certificate": "tls" })), site("none", json!({}))]);
    let running = Running::start(&cluster, run);
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "tls", "namespace": "default" } });
    let version = |it: serde_json::Value| Some(it["metadata"]["resourceVersion"].clone());
    let first = version(cluster.put_json("secrets", secret).unwrap());
    until("created", || value(&cluster, "shop", "certificate-version") == first).await;
    cluster.edit_json("secrets", "default", "tls", |secret| secret["data"] = json!({ "tls.crt": "" }));
    let second = version(cluster.get_json("secrets", "default", "tls").unwrap());
    until("updated", || value(&cluster, "shop", "certificate-version") == second).await;
    assert_eq!(cluster.list_json("configmaps").len(), 1);
    running.stop().await;
}
