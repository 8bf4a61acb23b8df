//! The field selectors of built-in kinds and of custom resources.

use kube::{
    Api, ResourceExt,
    api::{ApiResource, DynamicObject, ListParams},
};
use operator_rs_testing::Cluster;
use serde_json::{Value, json};

fn status_code(error: kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn objects_are_selected_by_the_fields_that_their_kind_has() {
    let widgets = json!({ "metadata": { "name": "widgets.test.dev" }, "spec": { "group": "test.dev", "scope": "Cluster",
        "names": { "kind": "Widget", "plural": "widgets" }, "versions": [{ "name": "v1", "served": true, "storage": true,
            "selectableFields": [{ "jsonPath": ".spec.size" }], "schema": { "openAPIV3Schema": { "type": "object",
                "properties": { "spec": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } } } }] } });
    let named = |name: &str, rest: Value| {
        let mut object = rest;
        object["metadata"] = json!({ "name": name, "namespace": "default" });
        object
    };
    let cluster = Cluster::default()
        .with_crds(&[widgets])
        .with_json("secrets", &[named("plain", json!({})), named("tls", json!({ "type": "kubernetes.io/tls" }))])
        .with_json("pods", &[
            named("on", json!({ "spec": { "nodeName": "x" }, "status": { "phase": "Running", "podIPs": [{ "ip": "1.2.3.4" }] } })),
            named("off", json!({ "spec": { "hostNetwork": true } })),
        ])
        .with_json("jobs.batch", &[named("new", json!({})), named("done", json!({ "status": { "succeeded": 1 } }))])
        .with_json("events", &[named("e", json!({ "involvedObject": { "name": "a" }, "source": { "component": "k" } }))])
        .with_json("widgets.test.dev", &[json!({ "metadata": { "name": "w" }, "spec": { "size": 3 } })]);
    let list = async |api_version: &str, plural: &str, selector: &str| {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let gvk = kube::core::GroupVersionKind::gvk(group, version, "It");
        let resource = ApiResource { plural: plural.into(), ..ApiResource::from_gvk(&gvk) };
        let api: Api<DynamicObject> = Api::all_with(cluster.client(), &resource);
        let found = api.list(&ListParams::default().fields(selector)).await;
        found.map(|it| it.iter().map(|it| it.name_any()).collect::<Vec<_>>()).map_err(status_code)
    };
    for (api_version, plural, selector, names) in [
        ("v1", "secrets", "type=kubernetes.io/tls", &["tls"][..]),
        ("v1", "secrets", "type!=kubernetes.io/tls,metadata.namespace=default", &["plain"]),
        ("v1", "secrets", "type=Opaque", &["plain"]),
        ("v1", "pods", "spec.nodeName=x,status.podIP=1.2.3.4", &["on"]),
        ("v1", "pods", "spec.host=x", &["on"]),
        ("v1", "pods", "spec.hostNetwork=true,status.phase=Pending", &["off"]),
        ("v1", "events", "involvedObject.name=a,source=k", &["e"]),
        ("batch/v1", "jobs", "status.successful=0", &["new"]),
        ("test.dev/v1", "widgets", "spec.size=3", &["w"]),
        ("test.dev/v1", "widgets", "spec.size!=3", &[]),
    ] {
        let names = names.iter().map(ToString::to_string).collect();
        assert_eq!(list(api_version, plural, selector).await, Ok(names), "{plural} {selector}");
    }
    for (api_version, plural, selector) in [
        ("v1", "secrets", "data.x=1"),
        ("v1", "nodes", "metadata.namespace="),
        ("v1", "configmaps", "type=Opaque"),
        ("test.dev/v1", "widgets", "spec.color=red"),
        ("test.dev/v1", "widgets", "metadata.namespace="),
    ] {
        assert_eq!(list(api_version, plural, selector).await, Err(400), "{plural} {selector}");
    }
}
