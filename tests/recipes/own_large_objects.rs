use crate::sites::{Running, cluster, of, site, until, value};
use operator::controller::own_large_objects::run;
use serde_json::json;

#[tokio::test]
async fn a_change_by_somebody_else_is_undone() {
    let cluster = cluster(&[site("shop", json!({ "domains": ["a.com"] }))]);
    let running = Running::start(&cluster, run);
    let is_ours = || value(&cluster, "shop", "a.com.html") == Some(json!("<h1>a.com</h1>"));
    until("created", is_ours).await;
    cluster.edit_json("configmaps", "default", "shop", |it| it["data"]["a.com.html"] = json!("theirs"));
    until("undone", is_ours).await;
    running.stop().await;
    cluster.clear_request_log();
    assert_eq!(cluster.run(of(run)).await, [""; 0], "after a restart");
}
