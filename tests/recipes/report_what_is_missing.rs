use crate::sites::{Running, SITES, cluster, names, site, until};
use operator::controller::report_what_is_missing::run;
use serde_json::{Value, json};

#[tokio::test]
async fn a_condition_names_the_secret_until_it_is_created() {
    let cluster = cluster(&[site("shop", json!({ "certificate": "tls" }))]);
    let available = || {
        let site = cluster.get_json(SITES, "default", "shop").unwrap();
        let all = site["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|it| it["type"] == "Available").unwrap_or(Value::Null)
    };
    let running = Running::start(&cluster, run);
    until("told", || available()["message"] == "the Secret `tls` does not exist").await;
    assert_eq!((available()["status"].as_str(), names(&cluster, "configmaps").len()), (Some("False"), 0));
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "tls", "namespace": "default" } });
    cluster.put_json("secrets", secret).unwrap();
    until("available", || available()["status"] == "True").await;
    assert_eq!(names(&cluster, "configmaps"), ["shop"]);
    running.stop().await;
}
