//! Conversions as the API server asks for them: of stored objects, and in server-side apply.

use crate::{
    caches,
    kinds::{new, old},
    manager,
};
use futures::StreamExt;
use kube::{
    Api, CustomResourceExt, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    core::crd::merge_crds,
};
use operator_rs_runtime::{Component, lossless_conversion_webhook};
use operator_rs_testing::{Cluster, resource_name};
use serde_json::{Value, json};

pub fn crd() -> Value {
    let crd = merge_crds(vec![old::Cache::crd(), new::Cache::crd()], "v1").unwrap();
    let mut crd = serde_json::to_value(crd).unwrap();
    let service = json!({ "name": "webhook-service", "namespace": "system", "path": "/convert" });
    crd["spec"]["conversion"] = json!({
        "strategy": "Webhook", "webhook": { "clientConfig": { "service": service }, "conversionReviewVersions": ["v1"] },
    });
    crd
}

pub fn cluster(conversion: Vec<Component>) -> Cluster {
    Cluster::default()
        .with_webhooks("", operator_rs_runtime::webhook_service(conversion, &manager()))
        .with_crds(&[crd()])
}

fn apis(cluster: &Cluster) -> (Api<old::Cache>, Api<new::Cache>) {
    (Api::namespaced(cluster.client(), "b"), Api::namespaced(cluster.client(), "b"))
}

fn old_cache(spec: Value) -> Value {
    json!({ "apiVersion": "test.dev/v1alpha1", "kind": "Cache", "metadata": { "name": "a" }, "spec": spec })
}

fn new_cache(spec: Value) -> Value {
    json!({ "apiVersion": "test.dev/v1", "kind": "Cache", "metadata": { "name": "a" }, "spec": spec })
}

fn spec(cluster: &Cluster) -> Value {
    cluster.get_json(&resource_name::<new::Cache>(), "b", "a").unwrap()["spec"].clone()
}

#[tokio::test]
async fn objects_are_stored_in_one_version_and_read_in_each() {
    let cluster = cluster(caches());
    let (old, new) = apis(&cluster);
    let watched = old.watch(&WatchParams::default(), "0").await.unwrap();
    let object: old::Cache = serde_json::from_value(old_cache(json!({ "size": 3, "address": "a:1" }))).unwrap();
    let created = old.create(&PostParams::default(), &object).await.unwrap();
    assert_eq!((created.spec.size, created.spec.address.as_str()), (3, "a:1"));
    assert_eq!(spec(&cluster), json!({ "replicas": 3, "host": "a", "port": 1, "zones": [] }));

    let merge = Patch::Merge(json!({ "spec": { "replicas": 4 } }));
    assert_eq!(new.patch("a", &PatchParams::default(), &merge).await.unwrap().spec.replicas, 4);
    let merge = Patch::Merge(json!({ "status": { "ready": 2 } }));
    assert_eq!(old.patch_status("a", &PatchParams::default(), &merge).await.unwrap().status.unwrap().ready, 2);
    assert_eq!(old.get("a").await.unwrap().spec.size, 4);
    let listed = old.list(&ListParams::default()).await.unwrap().items;
    assert_eq!((listed[0].spec.size, listed[0].status.as_ref().unwrap().ready), (4, 2));
    assert_eq!(new.list(&ListParams::default()).await.unwrap().items[0].spec.replicas, 4);

    old.delete("a", &DeleteParams::default()).await.unwrap();
    let events: Vec<_> = watched.take(4).collect().await;
    let sizes = events.into_iter().map(|it| match it.unwrap() {
        WatchEvent::Added(it) | WatchEvent::Modified(it) | WatchEvent::Deleted(it) => it.spec.size,
        other => panic!("{other:?}"),
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [3, 4, 4, 4]);
}

#[tokio::test]
async fn a_failed_conversion_is_the_answer() {
    let cluster = cluster(caches());
    let (old, _) = apis(&cluster);
    let object: old::Cache = serde_json::from_value(old_cache(json!({ "size": 666, "address": "a:1" }))).unwrap();
    let refused = old.create(&PostParams::default(), &object).await.unwrap_err().to_string();
    let why = "conversion webhook for test.dev/v1alpha1, Kind=Cache failed: cannot convert Cache `b/a` from \
               test.dev/v1alpha1 to test.dev/v1: the conversion panicked: nobody has 666";
    assert!(refused.contains(why), "{refused}");
}

/// A manager in each version: what one of them no longer applies goes, and what the other one owns stays.
#[tokio::test]
async fn an_apply_prunes_by_the_versions_of_the_managers() {
    for lossless in [false, true] {
        let keeping = || lossless_conversion_webhook::<new::Cache, old::Cache>("test.dev/conversion-data");
        let cluster = cluster(if lossless { vec![keeping()] } else { caches() });
        let (old, new) = apis(&cluster);
        let by_old = async |size, force| {
            let patch = Patch::Apply(old_cache(json!({ "size": size, "address": "a:1" })));
            let params = PatchParams { force, ..PatchParams::apply("old") };
            old.patch("a", &params, &patch).await
        };
        let by_new = async |spec| new.patch("a", &PatchParams::apply("new"), &Patch::Apply(new_cache(spec))).await;

        by_old(3, false).await.unwrap();
        by_new(json!({ "tls": { "secret": "mine" } })).await.unwrap();
        let refused = by_new(json!({ "tls": { "secret": "mine" }, "replicas": 7 })).await.unwrap_err().to_string();
        assert!(refused.contains(r#"conflict with "old": .spec.size"#), "{refused}");

        // The old version has no secret: it comes back from the annotation, or is that of the conversion.
        by_old(5, false).await.unwrap();
        let secret = if lossless { "mine" } else { "tls" };
        let expected = json!({ "replicas": 5, "host": "a", "port": 1, "zones": [], "tls": { "secret": secret } });
        assert_eq!(spec(&cluster), expected);
        by_new(json!({ "tls": { "secret": "other" } })).await.unwrap();
        assert_eq!(spec(&cluster)["tls"], json!({ "secret": "other" }));

        // Without what `new` no longer applies, the object is partial in its version, and in the other one.
        by_new(json!({})).await.unwrap();
        assert_eq!(spec(&cluster), json!({ "replicas": 5, "host": "a", "port": 1, "zones": [] }));

        // An applier is the same one in the other version: what it had before goes.
        let rest = Patch::Apply(new_cache(json!({ "replicas": 6, "host": "b", "port": 1 })));
        let object = new.patch("a", &PatchParams::apply("old"), &rest).await.unwrap();
        assert_eq!(spec(&cluster), json!({ "replicas": 6, "host": "b", "port": 1, "zones": [] }));
        let managers: Vec<_> =
            object.managed_fields().iter().map(|it| (it.manager.as_deref(), it.api_version.as_deref())).collect();
        assert_eq!(managers, [(Some("new"), Some("test.dev/v1")), (Some("old"), Some("test.dev/v1"))]);
    }
}
