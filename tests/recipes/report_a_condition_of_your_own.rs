use crate::sites::{Running, SITES, cluster, of, site, until};
use operator::controller::report_a_condition_of_your_own::run;
use serde_json::json;

#[tokio::test]
async fn the_site_is_not_ready_as_long_as_it_fails() {
    let theirs = json!({ "metadata": { "name": "shop", "namespace": "default" } });
    let cluster = cluster(&[site("shop", json!({}))]).with_json("configmaps", &[theirs]);
    let condition = |name: &str| {
        let site = cluster.get_json(SITES, "default", "shop").unwrap();
        let conditions = site["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.into_iter().find(|it| it["type"] == name).unwrap_or_default();
        [found["status"].clone(), found["reason"].clone()]
    };
    let running = Running::start(&cluster, run);
    until("not ready", || condition("Ready") == [json!("False"), json!("NotOwned")]).await;
    until("degraded", || condition("Degraded") == [json!("True"), json!("NotOwned")]).await;
    cluster.delete_json("configmaps", "default", "shop");
    until("ready", || condition("Ready") == [json!("True"), json!("Reconciled")]).await;
    running.stop().await;
    cluster.clear_request_log();
    assert_eq!(cluster.run(of(run)).await, [""; 0], "after a restart");
}
