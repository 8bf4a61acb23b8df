use crate::sites::{Running, cluster, names, site, until};
use operator::controller::grant_permissions::run;
use serde_json::json;

#[tokio::test]
async fn the_account_of_a_site_is_bound_to_its_role() {
    let cluster = cluster(&[site("shop", json!({}))]);
    let running = Running::start(&cluster, run);
    let bindings = "rolebindings.rbac.authorization.k8s.io";
    until("bound", || names(&cluster, bindings) == ["shop"]).await;
    running.stop().await;
    let binding = cluster.get_json(bindings, "default", "shop").unwrap();
    assert_eq!(binding["subjects"], json!([{ "kind": "ServiceAccount", "name": "shop", "namespace": "default" }]));
    let role = cluster.get_json("roles.rbac.authorization.k8s.io", "default", "shop").unwrap();
    assert_eq!(role["rules"][0]["verbs"], json!(["get", "create", "update"]));
    for it in [binding, role, cluster.get_json("serviceaccounts", "default", "shop").unwrap()] {
        assert_eq!(it["metadata"]["ownerReferences"][0]["uid"], "uid-shop");
    }
}
