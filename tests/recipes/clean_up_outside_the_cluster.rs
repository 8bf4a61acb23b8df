use crate::sites::{Running, SITES, cluster, of, site, until};
use operator::{controller::clean_up_outside_the_cluster::run_with, dns::Dns};
use operator_rs_testing::faults;
use serde_json::json;

#[tokio::test]
async fn a_deleted_site_is_removed_from_the_provider() {
    let (cluster, dns) = (cluster(&[site("shop", json!({ "domains": ["a.com"] }))]), Dns::default());
    let running = Running::start(&cluster, |operator| run_with(operator, dns.clone()));
    until("created", || dns.all().get("uid-shop").is_some_and(|it| *it == ["a.com"])).await;
    cluster.delete(SITES, "default", "shop");
    until("removed", || cluster.list(SITES).is_empty()).await;
    assert!(dns.all().is_empty());
    running.stop().await;
}

#[tokio::test]
async fn a_site_never_goes_before_its_records() {
    let dns = Dns::default();
    let shop = || cluster(&[site("shop", json!({ "domains": ["a.com"] }))]);
    let check = faults::Check::new(shop, of(|operator| run_with(operator, dns.clone())));
    let step = check.then(|it| {
        assert_eq!(it.list(SITES)[0]["metadata"]["finalizers"], json!(["web.example.com/dns"]));
        it.delete(SITES, "default", "shop");
    });
    step.run().await;
    assert!(dns.all().is_empty());
}
