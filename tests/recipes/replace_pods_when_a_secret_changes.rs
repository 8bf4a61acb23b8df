use crate::sites::{Running, cluster, site, until};
use operator::controller::replace_pods_when_a_secret_changes::run;
use serde_json::{Value, json};

#[tokio::test]
async fn the_template_changes_with_the_data_and_with_nothing_else() {
    let cluster = cluster(&[site("shop", json!({ "certificate": "tls" }))]);
    let metadata = json!({ "name": "tls", "namespace": "default" });
    cluster.put_json("secrets", json!({ "metadata": metadata, "data": { "tls.crt": "YQ==" } })).unwrap();
    let running = Running::start(&cluster, run);
    let deployment = || cluster.get_json("deployments.apps", "default", "shop");
    let annotations = || Some(deployment()?["spec"]["template"]["metadata"]["annotations"].take());
    until("created", || annotations().is_some_and(|it| it["web.example.com/certificate"] != "")).await;
    let first = annotations();
    cluster.edit_json("secrets", "default", "tls", |it| it["metadata"]["labels"] = json!({ "a": "b" }));
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(annotations(), first);
    cluster.edit_json("secrets", "default", "tls", |it| it["data"]["tls.crt"] = json!("Yg=="));
    until("changed", || annotations() != first).await;
    assert_ne!(annotations(), Some(Value::Null));
    running.stop().await;
}
