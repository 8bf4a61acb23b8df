use crate::sites::{Running, cluster, site, until, value};
use operator::controller::react_to_other_objects::run;
use serde_json::json;

#[tokio::test]
async fn a_change_reaches_every_site_that_the_object_names() {
    let cluster = cluster(&[site("a", json!({})), site("b", json!({})), site("c", json!({}))]);
    let running = Running::start(&cluster, run);
    let defaults = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": { "color": "red" },
        "metadata": {
            "name": "defaults", "namespace": "default",
            "labels": { "web.example.com/defaults": "true" }, "annotations": { "web.example.com/sites": "a,b" },
        },
    });
    cluster.put_json("configmaps", defaults).unwrap();
    for name in ["a", "b"] {
        until(name, || value(&cluster, name, "color") == Some(json!("red"))).await;
    }
    cluster.edit_json("configmaps", "default", "defaults", |it| {
        it["metadata"]["annotations"]["web.example.com/sites"] = json!("b,c");
    });
    until("c", || value(&cluster, "c", "color") == Some(json!("red"))).await;
    until("a", || value(&cluster, "a", "color") == Some(json!(null))).await;
    running.stop().await;
}
