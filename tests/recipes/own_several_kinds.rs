use crate::sites::{Running, SITES, cluster, names, of, site, until};
use operator::controller::own_several_kinds::run;
use operator_rs_testing::faults;
use serde_json::json;

#[tokio::test]
async fn an_object_that_is_no_longer_wanted_is_deleted() {
    let cluster = cluster(&[site("shop", json!({ "domains": ["a.com", "b.com"] }))]);
    let theirs = json!({ "metadata": { "name": "theirs", "namespace": "default" } });
    let cluster = cluster.with_json("configmaps", &[theirs]);
    let running = Running::start(&cluster, run);
    until("created", || names(&cluster, "configmaps") == ["shop-a.com", "shop-b.com", "theirs"]).await;
    cluster.edit_json(SITES, "default", "shop", |it| it["spec"]["domains"] = json!(["b.com"]));
    until("pruned", || names(&cluster, "configmaps") == ["shop-b.com", "theirs"]).await;
    assert_eq!(names(&cluster, "serviceaccounts"), ["shop"]);
    running.stop().await;
}

#[tokio::test]
async fn an_object_of_somebody_else_is_left_alone() {
    let mut theirs = json!({ "metadata": { "name": "shop-a.com", "namespace": "default" } });
    theirs["data"]["domain"] = json!("theirs");
    let cluster = cluster(&[site("shop", json!({ "domains": ["a.com"] }))]).with_json("configmaps", &[theirs]);
    cluster.run(of(run)).await;
    assert_eq!(cluster.get_json("configmaps", "default", "shop-a.com").unwrap()["data"]["domain"], "theirs");
    let condition = &cluster.get_json(SITES, "default", "shop").unwrap()["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["reason"]), (&json!("Degraded"), &json!("NotOwned")));
}

#[tokio::test]
async fn the_outcome_is_the_same_whatever_goes_wrong() {
    let check = faults::FaultCheck::new(|| cluster(&[site("shop", json!({ "domains": ["a.com", "b.com"] }))]), of(run));
    let step = check.then(|it| {
        it.edit_json(SITES, "default", "shop", |it| it["spec"]["domains"] = json!(["b.com"]));
    });
    step.run().await;
}
