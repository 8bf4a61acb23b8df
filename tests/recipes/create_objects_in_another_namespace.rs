use crate::sites::{Running, SITES, cluster, of, site, until};
use operator::controller::create_objects_in_another_namespace::run;
use operator_rs_testing::{Cluster, faults};
use serde_json::json;

fn shop() -> Cluster {
    cluster(&[site("shop", json!({ "domains": ["a.com"] }))])
}

#[tokio::test]
async fn a_change_is_undone_and_a_deleted_site_leaves_nothing() {
    let cluster = shop();
    let running = Running::start(&cluster, run);
    let found = || Some(cluster.get_json("configmaps", "web-servers", "site-uid-shop")?["data"]["domains"].clone());
    until("created", || found() == Some(json!("a.com"))).await;
    cluster.edit_json("configmaps", "web-servers", "site-uid-shop", |it| it["data"]["domains"] = json!("theirs"));
    until("undone", || found() == Some(json!("a.com"))).await;
    cluster.delete_json(SITES, "default", "shop");
    until("deleted", || cluster.list_json(SITES).is_empty()).await;
    assert_eq!(found(), None);
    running.stop().await;
}

#[tokio::test]
async fn nothing_is_left_whatever_goes_wrong() {
    let check = faults::FaultCheck::new(shop, of(run)).then(|it| {
        assert_eq!(it.list_json("configmaps").len(), 1);
        it.delete_json(SITES, "default", "shop");
    });
    check.then(|it| assert!(it.list_json("configmaps").is_empty())).run().await;
}
