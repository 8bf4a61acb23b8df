use crate::sites::{Running, SITES, cluster, names, of, site, until};
use operator::controller::report_the_status::run;
use serde_json::json;

#[tokio::test]
async fn the_site_is_available_once_the_service_has_an_address() {
    let cluster = cluster(&[site("shop", json!({}))]);
    let running = Running::start(&cluster, run);
    let available = |expected: &str| {
        let condition = &cluster.get_json(SITES, "default", "shop").unwrap()["status"]["conditions"][0];
        condition["type"] == "Available" && condition["status"] == expected
    };
    until("pending", || available("False")).await;
    assert_eq!(names(&cluster, "events.events.k8s.io").len(), 0);
    cluster.edit_json("services", "default", "shop", |it| {
        it["status"] = json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } });
    });
    until("available", || available("True")).await;
    until("an event", || names(&cluster, "events.events.k8s.io").len() == 1).await;
    running.stop().await;
    cluster.clear_request_log();
    assert_eq!(cluster.run(of(run)).await, [""; 0], "after a restart");
}
