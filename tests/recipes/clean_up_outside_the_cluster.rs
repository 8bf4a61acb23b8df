use crate::sites::{Running, SITES, cluster, of, site, until};
use operator::{controller::clean_up_outside_the_cluster::run_with, dns::Dns};
use operator_rs_testing::faults;
use serde_json::json;

#[tokio::test]
async fn a_deleted_site_is_removed_from_the_provider() {
    let (cluster, dns) = (cluster(&[site("shop", json!({ "domains": ["a.com"] }))]), Dns::default());
    let running = Running::start(&cluster, |manager| run_with(manager, dns.clone()));
    until("created", || dns.all().get("uid-shop").is_some_and(|it| *it == ["a.com"])).await;
    cluster.delete_json(SITES, "default", "shop");
    until("removed", || cluster.list_json(SITES).is_empty()).await;
    assert!(dns.all().is_empty());
    running.stop().await;
}

#[tokio::test]
async fn a_site_never_goes_before_its_records() {
    let dns = Dns::default();
    let shop = || cluster(&[site("shop", json!({ "domains": ["a.com"] }))]);
    let check = faults::FaultCheck::new(shop, of(|manager| run_with(manager, dns.clone())));
    let step = check.then(|it| {
        assert_eq!(it.list_json(SITES)[0]["metadata"]["finalizers"], json!(["web.example.com/dns"]));
        it.delete_json(SITES, "default", "shop");
    });
    step.run().await;
    assert!(dns.all().is_empty());
}
