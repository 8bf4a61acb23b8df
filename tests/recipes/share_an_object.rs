use crate::sites::{Running, SITES, cluster, site, until};
use operator::controller::share_an_object::run;
use serde_json::{Value, json};

#[tokio::test]
async fn each_site_has_its_key_as_long_as_it_exists() {
    let domains = |name: &str, domain: &str| site(name, json!({ "domains": [domain] }));
    let cluster = cluster(&[domains("a", "a.com"), domains("b", "b.com")]);
    let data = || cluster.get_json("configmaps", "default", "domains").map(|mut it| it["data"].take());
    let running = Running::start(&cluster, run);
    until("shared", || data() == Some(json!({ "a": "a.com", "b": "b.com" }))).await;
    cluster.edit_json(SITES, "default", "a", |it| it["spec"]["domains"] = json!(["c.com"]));
    until("changed", || data() == Some(json!({ "a": "c.com", "b": "b.com" }))).await;
    cluster.delete_json(SITES, "default", "a");
    until("given up", || data() == Some(json!({ "b": "b.com" }))).await;
    until("gone", || cluster.get_json(SITES, "default", "a").is_none()).await;
    running.stop().await;
    assert_ne!(data(), Some(Value::Null));
}
