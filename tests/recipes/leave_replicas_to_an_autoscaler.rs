use crate::sites::{Running, SITES, cluster, site, until};
use operator::controller::leave_replicas_to_an_autoscaler::run;
use serde_json::json;

const DEPLOYMENTS: &str = "deployments.apps";

#[tokio::test]
async fn the_number_stays_when_it_is_left_and_the_autoscaler_changes_it() {
    let cluster = cluster(&[site("shop", json!({}))]);
    let replicas = || cluster.get_json(DEPLOYMENTS, "default", "shop").map(|it| it["spec"]["replicas"].clone());
    let running = Running::start(&cluster, run);
    until("created", || replicas() == Some(json!(2))).await;
    cluster.edit_json(SITES, "default", "shop", |it| it["spec"]["domains"] = json!(["a.com"]));
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(replicas(), Some(json!(2)));
    cluster.edit_json(DEPLOYMENTS, "default", "shop", |it| it["spec"]["replicas"] = json!(7));
    running.stop().await;
    assert_eq!(replicas(), Some(json!(7)));
    let again = Running::start(&cluster, run);
    again.stop().await;
    assert_eq!(replicas(), Some(json!(7)));
}
