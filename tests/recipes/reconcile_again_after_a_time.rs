use crate::sites::{Running, cluster, site, until};
use operator::controller::reconcile_again_after_a_time::run;
use serde_json::json;

#[tokio::test]
async fn a_site_is_queued_again() {
    let cluster = cluster(&[site("shop", json!({}))]);
    let running = Running::start(&cluster, run);
    let series = "controller_runtime_reconcile_total{controller=\"site\",result=\"requeue_after\"} 1\n";
    until("reconciled", || running.manager.metrics.encode().contains(series)).await;
    running.stop().await;
}
