//! Dry runs: their report, and that nothing can be written in one.

mod kinds;

use http::{Request, Response};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kinds::{Operates as _, Thing, ThingStatus, config, data, labels, quiet, thing, until};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, EvictParams, ListParams, Patch, PatchParams, PostParams},
};
use operator_rs_runtime::{
    Action, Controller, Dependents, Error, FinalizerEvent, Identity, Manager, Owned, Primary, finalizer,
};
use operator_rs_testing::Cluster;
use serde_json::{Value, json};
use std::sync::Arc;

struct Ctx {
    manager: Manager,
    things: Primary<Thing>,
    dependents: Dependents<Thing>,
    configs: Owned<ConfigMap, Thing>,
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    let step = finalizer(&ctx.things, "test.dev/clean", thing, async |event| {
        let FinalizerEvent::Apply(thing) = event else { return Ok(Action::await_change()) };
        for name in thing.spec.configs.keys() {
            ctx.configs.apply(&thing, &config(&thing, name)).await?;
        }
        ctx.dependents.prune(&thing).await?;
        let status = ThingStatus { external_id: Some("known".into()), ..ThingStatus::default() };
        ctx.things.update_status(&thing, status).await?;
        ctx.manager.event(&*thing).normal("Done", "It is done").await;
        Ok::<_, Error>(Action::await_change())
    });
    step.await
}

async fn run(manager: Manager) -> operator_rs_runtime::Result<()> {
    let mut controller = Controller::new(&manager);
    let configs = controller.owns(&labels());
    let ctx = Ctx { things: controller.primary(), dependents: controller.dependents(), configs, manager };
    controller.run(reconcile, Arc::new(ctx)).await
}

/// One Thing that is settled, with two ConfigMaps.
async fn settled() -> Cluster {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[("x", &["k"]), ("y", &["k"])])]);
    let manager = cluster.manager();
    let task = tokio::spawn(run(manager.clone()));
    until("made", || cluster.list_json("configmaps").len() == 2).await;
    quiet().await;
    manager.stop.cancel();
    task.await.unwrap().unwrap();
    cluster
}

/// Runs it, and returns the report and the number of failures.
async fn dry_run(cluster: &Cluster) -> (String, usize) {
    let (writes, version) = (cluster.write_count(), cluster.latest_resource_version());
    cluster.clear_request_log();
    let manager = cluster.manager().into_dry_run();
    run(manager.clone()).await.unwrap();
    let dry = cluster.requests().iter().filter(|it| it.is_write()).map(|it| it.is_dry_run).collect::<Vec<_>>();
    assert!(dry.iter().all(|it| *it), "{:?}", cluster.requests());
    assert_eq!(cluster.latest_resource_version(), version, "{writes} writes before");
    assert!(dry.len() < 30, "{dry:?}");
    let report = manager.dry_run.unwrap();
    (report.to_string(), report.failures())
}

#[tokio::test]
async fn a_dry_run_reports_every_change_and_stores_none() {
    let cluster = settled().await;
    assert_eq!(
        dry_run(&cluster).await,
        ("dry run: 1 reconciled, 0 failed; 0 to create, 0 to change, 0 to delete".into(), 0)
    );
    assert_eq!(cluster.requests().iter().filter(|it| it.is_write()).count(), 0);

    cluster.edit_json("things.test.dev", "n", "a", |it| {
        it["spec"] = thing("a", &[("x", &["k", "l"]), ("z", &["k"])])["spec"].take();
        it["status"]["externalId"] = Value::Null;
    });
    let theirs = json!({ "metadata": { "name": "theirs", "namespace": "n" } });
    cluster.put_json("configmaps", &theirs).unwrap();
    let mut paused = thing("c", &[("c", &["k"])]);
    paused["metadata"]["annotations"] = json!({ "test.dev/paused": "true" });
    let mut unreadable = thing("d", &[]);
    unreadable["spec"]["configs"] = json!(7);
    for it in [thing("b", &[("theirs", &["k"])]), paused, unreadable] {
        cluster.put_json("things.test.dev", &it).unwrap();
    }
    let (leases, events) =
        (cluster.list_json("leases.coordination.k8s.io"), cluster.list_json("events.events.k8s.io").len());
    let (report, failures) = dry_run(&cluster).await;
    let expected = "\
change  configmaps n/x: data.l
delete  configmaps n/y
create  configmaps n/z
change  things.test.dev n/b: metadata.finalizers
change  things.test.dev/status n/a: status.externalId
failed  things.test.dev n/b: NotOwned: ConfigMap `theirs` already exists and was not created by this operator: rename the desired object, or delete the existing one if nothing needs it
paused  things.test.dev n/c: by `test.dev/paused`
failed  things.test.dev n/d: Undecodable: the log says why
dry run: 1 reconciled, 2 failed; 1 to create, 3 to change, 1 to delete";
    assert_eq!((report.as_str(), failures), (expected, 2));
    assert_eq!((data(&cluster, "x"), data(&cluster, "z")), (Some(json!({ "k": "1" })), None));
    assert!(data(&cluster, "y").is_some() && leases.is_empty());
    assert_eq!(cluster.list_json("events.events.k8s.io").len(), events, "no event is published");
}

#[tokio::test]
async fn no_request_of_a_dry_run_is_stored_whoever_makes_it() {
    let pod = json!({ "metadata": { "name": "p", "namespace": "n" } });
    let map = json!({ "metadata": { "name": "x", "namespace": "n", "labels": { "a": "b" } } });
    let cluster = Cluster::default().with_json("configmaps", &[map]).with_json("pods", &[pod]);
    let before = (cluster.latest_resource_version(), cluster.list_json("configmaps"), cluster.list_json("pods"));
    let manager = cluster.manager().into_dry_run();
    let api: Api<ConfigMap> = Api::namespaced(manager.client.clone(), "n");
    let mut found = api.get("x").await.unwrap();
    found.labels_mut().insert("a".into(), "c".into());
    api.replace("x", &PostParams::default(), &found).await.unwrap();
    api.create(&PostParams::default(), &serde_json::from_value(json!({ "metadata": { "name": "y" } })).unwrap())
        .await
        .unwrap();
    api.patch("x", &PatchParams::default(), &Patch::Merge(json!({ "data": { "k": "v" } }))).await.unwrap();
    api.delete("x", &DeleteParams::foreground()).await.unwrap();
    api.delete_collection(&DeleteParams::default(), &ListParams::default().labels("a=b")).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(manager.client.clone(), "n");
    // Of what is not there, nothing is deleted.
    api.delete_collection(&DeleteParams::default(), &ListParams::default().labels("a=z")).await.unwrap();
    let evicted = pods.evict("p", &Default::default()).await;
    let dry = cluster.requests().into_iter().filter(|it| it.is_write()).map(|it| (it.verb, it.is_dry_run));
    let expected =
        ["update", "create", "patch", "delete", "deletecollection", "deletecollection", "create"].map(|it| (it, true));
    assert_eq!(dry.collect::<Vec<_>>(), expected, "{evicted:?}");
    cluster.clear_request_log();
    for path in ["/api/v1/namespaces/n/pods/p/exec?command=rm", "/api/v1/nodes/a/proxy/run"] {
        for method in ["GET", "POST"] {
            let request = http::Request::builder().method(method).uri(path).body(vec![]).unwrap();
            let refused = manager.client.request_text(request).await.unwrap_err();
            let path = path.split('?').next().unwrap();
            assert_eq!(operator_rs_runtime::explain(&refused), format!("{method} {path} cannot be part of a dry run"));
        }
    }
    assert_eq!(cluster.requests(), [], "they never reach the server");
    let report = manager.dry_run.unwrap().to_string();
    let expected = "\
delete  configmaps n/x
create  configmaps n/y
skipped GET /api/v1/namespaces/n/pods/p/exec: it cannot be part of a dry run
skipped GET /api/v1/nodes/a/proxy/run: it cannot be part of a dry run
skipped POST /api/v1/namespaces/n/pods/p/exec: it cannot be part of a dry run
skipped POST /api/v1/nodes/a/proxy/run: it cannot be part of a dry run
";
    assert!(report.starts_with(expected), "{report}");
    assert_eq!((cluster.latest_resource_version(), cluster.list_json("configmaps"), cluster.list_json("pods")), before);
}

#[tokio::test]
async fn an_eviction_is_of_its_pod_though_its_answer_is_none() {
    let service = tower::service_fn(|request: Request<kube::client::Body>| async move {
        assert_eq!(request.uri().to_string(), "/api/v1/namespaces/n/pods/p/eviction?dryRun=All");
        let done = r#"{"kind":"Status","apiVersion":"v1","status":"Success","code":201}"#;
        Ok::<_, std::convert::Infallible>(Response::new(kube::client::Body::from(done.as_bytes().to_vec())))
    });
    let identity = Identity { name: "operator", version: "0.0.0" };
    let manager = Manager::new(identity, Client::new(service, "n")).into_dry_run();
    let pods: Api<Pod> = Api::namespaced(manager.client.clone(), "n");
    pods.evict("p", &EvictParams::default()).await.unwrap();
    let report = manager.dry_run.unwrap().to_string();
    assert!(report.starts_with("create  pods/eviction n/p\n"), "{report}");
}
