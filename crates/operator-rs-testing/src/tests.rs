use super::*;
use futures::{StreamExt, TryStreamExt, pin_mut};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, Secret},
};
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, PropagationPolicy},
    runtime::{WatchStreamExt, watcher},
};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

const CONFIGS: &str = "configmaps";

fn configs(cluster: &Cluster) -> Api<ConfigMap> {
    Api::namespaced(cluster.client(), "default")
}

fn things(cluster: &Cluster) -> Api<DynamicObject> {
    let resource = ApiResource { plural: "things".into(), ..ApiResource::from_gvk(&gvk()) };
    Api::namespaced_with(cluster.client(), "default", &resource)
}

fn gvk() -> kube::core::GroupVersionKind {
    kube::core::GroupVersionKind::gvk("test.dev", "v1", "Thing")
}

fn config(name: &str, data: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": "default" }, "data": data })
}

fn typed(value: Value) -> ConfigMap {
    serde_json::from_value(value).unwrap()
}

fn code<T>(result: Result<T, kube::Error>) -> (u16, String) {
    match result {
        Ok(_) => (200, String::new()),
        Err(kube::Error::Api(status)) => (status.code, status.reason.clone()),
        Err(error) => panic!("{error}"),
    }
}

fn apply() -> PatchParams {
    PatchParams::apply("op").force()
}

#[tokio::test]
async fn versions_conflict_as_those_of_a_real_server() {
    let cluster = Cluster::default();
    let api = configs(&cluster);
    let first = api.create(&PostParams::default(), &typed(config("a", json!({ "x": "1" })))).await.unwrap();
    assert_eq!(code(api.create(&PostParams::default(), &first).await).0, 500, "a version is given");
    let again = typed(config("a", json!({})));
    assert_eq!(code(api.create(&PostParams::default(), &again).await), (409, "AlreadyExists".into()));
    let mut second = first.clone();
    second.data.get_or_insert_default().insert("x".into(), "2".into());
    let second = api.replace("a", &PostParams::default(), &second).await.unwrap();
    assert_ne!(first.resource_version(), second.resource_version());
    assert_eq!(code(api.replace("a", &PostParams::default(), &first).await), (409, "Conflict".into()));
    let same = api.replace("a", &PostParams::default(), &second).await.unwrap();
    assert_eq!(second.resource_version(), same.resource_version(), "nothing changed");
    let failed: json_patch::Patch =
        serde_json::from_value(json!([{ "op": "test", "path": "/data/x", "value": "9" }])).unwrap();
    let failed = api.patch("a", &PatchParams::default(), &Patch::Json::<()>(failed)).await;
    assert_eq!(code(failed), (422, "Invalid".into()));
}

#[tokio::test]
async fn a_test_for_null_passes_where_nothing_is() {
    let cluster = Cluster::default().with_json(CONFIGS, &[config("a", json!({}))]);
    let path = "/metadata/finalizers";
    let patch = json!([{ "op": "test", "path": path, "value": null }, { "op": "add", "path": path, "value": ["a/b"] }]);
    let patch = || Patch::Json::<()>(serde_json::from_value(patch.clone()).unwrap());
    let after = configs(&cluster).patch("a", &PatchParams::default(), &patch()).await.unwrap();
    assert_eq!(after.metadata.finalizers.unwrap(), ["a/b"]);
    assert_eq!(code(configs(&cluster).patch("a", &PatchParams::default(), &patch()).await), (422, "Invalid".into()));
}

#[tokio::test]
async fn create_only_apply_never_touches_what_is_there() {
    let cluster = Cluster::default().with_json(CONFIGS, &[config("a", json!({ "x": "1" }))]);
    let create = |name: &str| {
        let mut object = config(name, json!({ "y": "2" }));
        object["metadata"]["resourceVersion"] = json!("1");
        Patch::Apply(object)
    };
    let api = configs(&cluster);
    assert_eq!(code(api.patch("a", &apply(), &create("a")).await), (409, "Conflict".into()));
    assert_eq!(cluster.get_json(CONFIGS, "default", "a").unwrap()["data"], json!({ "x": "1" }));
    assert_eq!(code(api.patch("b", &apply(), &create("b")).await).0, 200);
}

fn condition(type_: &str) -> Value {
    json!({ "type": type_, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" })
}

#[tokio::test]
async fn a_part_of_a_condition_is_invalid() {
    let cluster = Cluster::default().with_json(
        "things.test.dev",
        &[json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "metadata": { "name": "a", "namespace": "default" } })],
    );
    let (api, ours) = (things(&cluster), json!({ "status": { "conditions": [condition("A")] } }));
    let mut other = ours.clone();
    other["status"]["conditions"][0]["status"] = json!("False");
    let patch = |status: &Value| {
        let mut it = status.clone();
        (it["apiVersion"], it["kind"]) = (json!("test.dev/v1"), json!("Thing"));
        it
    };
    let failure = PatchParams::apply("op/failure").force();
    api.patch_status("a", &apply(), &Patch::Apply(&patch(&ours))).await.unwrap();
    api.patch_status("a", &failure, &Patch::Apply(&patch(&other))).await.unwrap();
    let refused = api.patch_status("a", &failure, &Patch::Apply(&patch(&json!({})))).await;
    let Err(kube::Error::Api(status)) = refused else { panic!("`op` still owns the type, and no status") };
    assert_eq!((status.code, status.message.contains("Required value")), (422, true));
}

#[tokio::test]
async fn status_and_the_rest_are_written_apart() {
    let cluster = Cluster::default().with_json(
        "things.test.dev",
        &[json!({ "apiVersion": "test.dev/v1", "kind": "Thing",
        "metadata": { "name": "a", "namespace": "default", "uid": "1" }, "spec": { "size": 1 } })],
    );
    let api = things(&cluster);
    let both = json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "metadata": { "labels": { "l": "m" } },
        "spec": { "size": 2 }, "status": { "conditions": [condition("A")] } });
    let after = api.patch_status("a", &apply(), &Patch::Apply(&both)).await.unwrap();
    assert_eq!((&after.data["spec"]["size"], after.metadata.generation), (&json!(1), Some(1)));
    assert_eq!(after.data["status"]["conditions"][0]["type"], "A");
    let failure = json!({ "apiVersion": "test.dev/v1", "kind": "Thing",
        "status": { "conditions": [condition("Degraded")] } });
    let params = PatchParams::apply("op/failure").force();
    let after = api.patch_status("a", &params, &Patch::Apply(&failure)).await.unwrap();
    assert_eq!(after.data["status"]["conditions"].as_array().unwrap().len(), 2);
    let nothing = json!({ "apiVersion": "test.dev/v1", "kind": "Thing" });
    let after = api.patch_status("a", &params, &Patch::Apply(&nothing)).await.unwrap();
    assert_eq!(after.data["status"]["conditions"].as_array().unwrap().len(), 1, "cleared by applying nothing");
    let after = api.patch("a", &apply(), &Patch::Apply(&both)).await.unwrap();
    assert_eq!((&after.data["spec"]["size"], after.metadata.generation), (&json!(2), Some(2)));
    let plain = cluster.without_status_conditions("things.test.dev");
    let refused = things(&plain).patch_status("a", &apply(), &Patch::Apply(&both)).await;
    let Err(kube::Error::Api(status)) = refused else { panic!("it is refused") };
    let object = "/; test.dev/v1, Kind=Thing";
    let why =
        format!("failed to create typed patch object ({object}): .status.conditions: field not declared in schema");
    assert_eq!((status.code, status.message.clone()), (500, why));
}

#[tokio::test]
async fn a_watch_sees_all_changes_in_order() {
    let cluster = Cluster::default().with_json(CONFIGS, &[config("a", json!({}))]);
    let api = configs(&cluster);
    let params = watcher::Config::default().labels("app=x");
    let stream = watcher(api.clone(), params).applied_objects();
    pin_mut!(stream);
    cluster.edit_json(CONFIGS, "default", "a", |it| it["metadata"]["labels"] = json!({ "app": "x" }));
    assert_eq!(stream.try_next().await.unwrap().unwrap().name_any(), "a");
    let events = api.watch(&Default::default(), "0").await.unwrap();
    pin_mut!(events);
    let kind = |it: &kube::api::WatchEvent<ConfigMap>| format!("{it:?}").split(' ').next().unwrap().to_owned();
    assert_eq!(kind(&events.try_next().await.unwrap().unwrap()), "Added");
    cluster.edit_json(CONFIGS, "default", "a", |it| it["data"] = json!({ "x": "2" }));
    cluster.delete_json(CONFIGS, "default", "a");
    assert_eq!(kind(&events.try_next().await.unwrap().unwrap()), "Modified");
    let Some(kube::api::WatchEvent::Deleted(last)) = events.try_next().await.unwrap() else { panic!("it is deleted") };
    assert_eq!(last.data.unwrap()["x"], "2");
}

#[tokio::test]
async fn an_object_that_leaves_the_selector_is_deleted_for_its_watch() {
    let labelled =
        |label: &str| json!({ "metadata": { "name": "a", "namespace": "default", "labels": { "app": label } } });
    let cluster = Cluster::default().with_json(CONFIGS, &[labelled("x")]);
    let version = configs(&cluster).list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let params = kube::api::WatchParams::default().labels("app=x");
    let events = configs(&cluster).watch(&params, &version).await.unwrap();
    pin_mut!(events);
    cluster.edit_json(CONFIGS, "default", "a", |it| it["metadata"]["labels"]["app"] = json!("y"));
    cluster.edit_json(CONFIGS, "default", "a", |it| it["metadata"]["labels"]["app"] = json!("x"));
    let Some(kube::api::WatchEvent::Deleted(last)) = events.try_next().await.unwrap() else { panic!("it left") };
    assert_eq!(last.labels()["app"], "x");
    let Some(kube::api::WatchEvent::Added(_)) = events.try_next().await.unwrap() else { panic!("it came back") };
}

#[tokio::test]
async fn a_watch_from_a_forgotten_version_is_gone() {
    let cluster = Cluster::default().with_history_limit(1);
    for n in 0..3 {
        cluster.put_json(CONFIGS, config("a", json!({ "n": n.to_string() }))).unwrap();
    }
    let events = configs(&cluster).watch(&Default::default(), "100").await.unwrap();
    pin_mut!(events);
    let Some(kube::api::WatchEvent::Error(status)) = events.try_next().await.unwrap() else { panic!("it is gone") };
    assert_eq!((status.code, events.try_next().await.unwrap().is_none()), (410, true));
}

#[tokio::test]
async fn events_are_late_twice_or_lost_where_a_test_wants_it() {
    let cluster = Cluster::default();
    let stream = watcher(configs(&cluster), watcher::Config::default()).default_backoff().touched_objects();
    pin_mut!(stream);
    let put = |n: &str| drop(cluster.put_json(CONFIGS, config("a", json!({ "n": n }))).unwrap());
    cluster.inject(Fault::RepeatEvents);
    assert!(timeout(Duration::from_millis(50), stream.next()).await.is_err());
    put("1");
    for _ in 0..2 {
        assert_eq!(stream.next().await.unwrap().unwrap().data.unwrap()["n"], "1");
    }
    cluster.remove_watch_faults();
    cluster.inject(Fault::HoldEvents);
    put("2");
    assert!(timeout(Duration::from_millis(100), stream.next()).await.is_err());
    cluster.release_events();
    assert_eq!(stream.next().await.unwrap().unwrap().data.unwrap()["n"], "2");
    cluster.inject(Fault::DelayEvents { delay: Duration::from_millis(100) });
    let start = Instant::now();
    put("3");
    assert_eq!(stream.next().await.unwrap().unwrap().data.unwrap()["n"], "3");
    assert!(Duration::from_millis(95) < start.elapsed());
    cluster.inject(Fault::LoseEvents { gone_after: Duration::from_millis(50) });
    put("4");
    put("5");
    let Err(watcher::Error::WatchError(status)) = stream.next().await.unwrap() else { panic!("it is gone") };
    assert_eq!(status.code, 410);
    cluster.remove_watch_faults();
    assert_eq!(stream.next().await.unwrap().unwrap().data.unwrap()["n"], "5", "listed again");
    cluster.inject(Fault::EndWatches);
    put("6");
    assert_eq!(stream.next().await.unwrap().unwrap().data.unwrap()["n"], "6", "resumed");
}

#[tokio::test]
async fn pages_are_consistent() {
    let all: Vec<_> = (0..5).map(|n| config(&format!("c{n}"), json!({}))).collect();
    let cluster = Cluster::default().with_json(CONFIGS, &all);
    let page = configs(&cluster).list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!((page.items.len(), page.metadata.remaining_item_count), (2, Some(3)));
    cluster.delete_json(CONFIGS, "default", "c4");
    let next = ListParams::default().limit(3).continue_token(&page.metadata.continue_.unwrap());
    let rest = configs(&cluster).list(&next).await.unwrap();
    assert_eq!((rest.items.len(), rest.metadata.resource_version), (3, page.metadata.resource_version));
    cluster.inject(Fault::ForgetHistory);
    assert_eq!(code(configs(&cluster).list(&next).await).0, 410);
    let metadata = configs(&cluster).list_metadata(&ListParams::default().labels("!app")).await.unwrap();
    assert_eq!((metadata.items.len(), metadata.items[0].name_any()), (4, "c0".into()));
}

#[tokio::test]
async fn finalizers_and_owners_decide_when_objects_go() {
    let cluster = Cluster::default().with_json(CONFIGS, &[config("owner", json!({}))]);
    let uid = cluster.get_json(CONFIGS, "default", "owner").unwrap()["metadata"]["uid"].clone();
    let mut child = config("child", json!({}));
    child["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid }]);
    let api = configs(&cluster);
    let mut held = child.clone();
    held["metadata"]["name"] = json!("held");
    held["metadata"]["finalizers"] = json!(["x.y/z"]);
    for it in [&child, &held] {
        api.create(&PostParams::default(), &typed(it.clone())).await.unwrap();
    }
    let foreground = DeleteParams { propagation_policy: Some(PropagationPolicy::Foreground), ..Default::default() };
    assert!(api.delete("owner", &foreground).await.unwrap().is_left(), "it waits");
    sleep(Duration::from_millis(100)).await;
    assert!(cluster.get_json(CONFIGS, "default", "child").is_none());
    let waits = cluster.get_json(CONFIGS, "default", "held").unwrap();
    assert!(waits["metadata"]["deletionTimestamp"].is_string());
    assert!(cluster.get_json(CONFIGS, "default", "owner").is_some());
    api.patch("held", &PatchParams::default(), &Patch::Merge(json!({ "metadata": { "finalizers": null } })))
        .await
        .unwrap();
    sleep(Duration::from_millis(100)).await;
    assert!(cluster.list_json(CONFIGS).is_empty());
    assert_eq!(code(api.create(&PostParams::default(), &typed(child)).await).0, 200);
    sleep(Duration::from_millis(100)).await;
    assert!(cluster.list_json(CONFIGS).is_empty(), "its owner is not there");
}

#[tokio::test]
async fn generations_count_what_is_asked_for() {
    let cluster = Cluster::default();
    let api: Api<Deployment> = Api::namespaced(cluster.client(), "default");
    let apply_with = |replicas: i32, label: &str| {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d", "labels": { "l": label } },
            "spec": { "replicas": replicas } })
    };
    for (replicas, label, generation) in [(1, "a", 1), (2, "a", 2), (2, "b", 2), (2, "b", 2)] {
        let it = api.patch("d", &apply(), &Patch::Apply(apply_with(replicas, label))).await.unwrap();
        assert_eq!(it.metadata.generation, Some(generation));
    }
    let generated = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "generateName": "g-" } });
    let made = configs(&cluster).create(&PostParams::default(), &typed(generated)).await.unwrap();
    assert!(made.name_any().starts_with("g-") && made.name_any().len() == 7);
    assert_eq!(made.metadata.generation, None, "a ConfigMap has none");
}

#[tokio::test]
async fn seeds_that_were_applied_are_not_changed_by_the_same_apply() {
    let object = config("a", json!({ "x": "1" }));
    let cluster = Cluster::default().with_json_applied_by("op", CONFIGS, &[&object]);
    let before = cluster.get_json(CONFIGS, "default", "a").unwrap();
    configs(&cluster).patch("a", &apply(), &Patch::Apply(&object)).await.unwrap();
    assert_eq!(cluster.get_json(CONFIGS, "default", "a").unwrap(), before);
    configs(&cluster).patch("a", &apply(), &Patch::Apply(config("a", json!({})))).await.unwrap();
    assert_eq!(cluster.get_json(CONFIGS, "default", "a").unwrap()["data"], Value::Null, "pruned");
}

#[tokio::test]
async fn requests_are_kept_and_rules_decide_about_them() {
    let cluster = Cluster::default()
        .with_fault(Fault::Forbid.on_list_and_watch_of::<Secret>())
        .with_fault(Fault::Refuse { code: 500 }.on_write(2))
        .with_fault(Fault::LoseRequest.on_requests_for::<Pod>())
        .with_fault(Fault::Refuse { code: 422 }.on_writes_of::<Deployment>());
    let api = configs(&cluster);
    api.patch("a", &apply(), &Patch::Apply(config("a", json!({})))).await.unwrap();
    assert_eq!(code(api.patch("a", &apply(), &Patch::Apply(config("a", json!({})))).await).0, 500);
    let secrets: Api<Secret> = Api::all(cluster.client());
    assert_eq!(code(secrets.list(&ListParams::default()).await).0, 403);
    let pods: Api<Pod> = Api::all(cluster.client());
    assert!(timeout(Duration::from_millis(50), pods.list(&ListParams::default())).await.is_err());
    let deployments: Api<Deployment> = Api::namespaced(cluster.client(), "default");
    assert_eq!(code(deployments.create(&PostParams::default(), &Deployment::default()).await).0, 422);
    let verbs: Vec<_> = cluster.requests().iter().map(|it| format!("{} {}", it.verb, it.resource)).collect();
    let expected = ["apply configmaps", "apply configmaps", "list secrets", "list pods", "create deployments.apps"];
    assert_eq!(verbs, expected);
    assert_eq!(cluster.count_writes("PATCH configmaps"), 2);
    assert_eq!(cluster.writes()[0].path, "/api/v1/namespaces/default/configmaps/a");
}

#[tokio::test]
async fn a_client_that_is_cut_off_changes_nothing() {
    let cluster = Cluster::default();
    let dead = CancellationToken::new();
    let api: Api<ConfigMap> = Api::namespaced(cluster.client_disconnected_by(&dead), "default");
    dead.cancel();
    let call =
        timeout(Duration::from_millis(50), api.create(&PostParams::default(), &typed(config("a", json!({}))))).await;
    assert!(call.is_err() && cluster.list_json(CONFIGS).is_empty());
}

#[tokio::test]
async fn a_dry_run_creates_an_object_with_a_version_as_a_real_server_does() {
    let cluster = Cluster::default();
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let mut object = typed(config("a", json!({})));
    object.metadata.resource_version = Some("1".into());
    let created = configs(&cluster).create(&dry, &object).await.unwrap();
    assert_eq!(created.resource_version().as_deref(), Some("1"));
    assert_eq!(cluster.list_json(CONFIGS), [json!(null); 0]);
}

#[tokio::test]
async fn a_subresource_that_is_not_there_is_refused_as_what_this_server_does_not_do() {
    let cluster = Cluster::default();
    let api: Api<Deployment> = Api::namespaced(cluster.client(), "default");
    let Err(kube::Error::Api(refusal)) = api.get_scale("a").await else { panic!("there is no `scale`") };
    let expected = "operator-rs-testing does not support the subresource `scale` of deployments.apps";
    assert_eq!((refusal.code, refusal.message.as_str()), (501, expected));
}
