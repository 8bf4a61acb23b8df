use crate::sites::{Running, cluster, site, until};
use operator::controller::add_metrics::run;
use serde_json::json;

#[tokio::test]
async fn the_metric_is_exported() {
    let cluster = cluster(&[site("shop", json!({}))]);
    let running = Running::start(&cluster, run);
    until("counted", || running.manager.metrics.encode().contains("\nsite_checks_total 1\n")).await;
    running.stop().await;
}

/// As with two namespaces in WATCH_NAMESPACE: the controller runs once for each.
#[tokio::test]
async fn controllers_share_the_metric() {
    let cluster = cluster(&[site("shop", json!({}))]);
    let running = Running::start(&cluster, |manager| async move {
        let (a, b) = futures::join!(run(manager.clone()), run(manager));
        a.and(b)
    });
    until("counted", || running.manager.metrics.encode().contains("\nsite_checks_total 2\n")).await;
    assert_eq!(running.manager.metrics.encode().matches("# TYPE site_checks ").count(), 1);
    running.stop().await;
}
