//! Dry runs: their report, and that nothing can be written in one.

mod kinds;

use http::{Request, Response};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kinds::{Operates as _, Thing, ThingStatus, config, data, labels, quiet, thing, until};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, EvictParams, ListParams, Patch, PatchParams, PostParams},
};
use operator_rs_testing::Cluster;
use runtime::{Action, Children, Controller, Error, Identity, Operator, Owned, Primary, finalizer::Event};
use serde_json::{Value, json};
use std::sync::Arc;

struct Ctx {
    operator: Operator,
    things: Arc<Primary<Thing>>,
    owned: Arc<Owned<Thing>>,
    configs: Arc<Children<ConfigMap>>,
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    let step = runtime::finalizer(&ctx.things, "test.dev/clean", thing, async |event| {
        let Event::Apply(thing) = event else { return Ok(Action::await_change()) };
        let mut set = ctx.owned.of(&thing);
        for name in thing.spec.configs.keys() {
            set.apply(&ctx.configs, &config(&thing, name)).await?;
        }
        set.prune().await?;
        let status = ThingStatus { external_id: Some("known".into()), ..ThingStatus::default() };
        ctx.things.set_status(&thing, status).await?;
        ctx.operator.normal(&*thing, "Done", "It is done").await;
        Ok::<_, Error>(Action::await_change())
    });
    step.await
}

async fn run(operator: Operator) -> anyhow::Result<()> {
    let mut controller = Controller::new(&operator);
    let configs = controller.owns(&labels());
    let ctx = Ctx { things: controller.primary(), owned: controller.owned(), configs, operator };
    controller.run(reconcile, Arc::new(ctx)).await
}

/// One Thing that is settled, with two ConfigMaps.
async fn settled() -> Cluster {
    let cluster = Cluster::default().with("things.test.dev", &[thing("a", &[("x", &["k"]), ("y", &["k"])])]);
    let operator = cluster.operator();
    let task = tokio::spawn(run(operator.clone()));
    until("made", || cluster.list("configmaps").len() == 2).await;
    quiet().await;
    operator.stop.cancel();
    task.await.unwrap().unwrap();
    cluster
}

/// Runs it, and returns the report and the number of failures.
async fn dry_run(cluster: &Cluster) -> (String, usize) {
    let (writes, version) = cluster.activity();
    cluster.clear_log();
    let operator = cluster.operator().into_dry_run();
    run(operator.clone()).await.unwrap();
    let dry = cluster.requests().iter().filter(|it| it.is_write()).map(|it| it.is_dry_run).collect::<Vec<_>>();
    assert!(dry.iter().all(|it| *it), "{:?}", cluster.requests());
    assert_eq!(cluster.activity().1, version, "{writes} writes before");
    assert!(dry.len() < 30, "{dry:?}");
    let report = operator.dry_run.unwrap();
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

    cluster.edit("things.test.dev", "n", "a", |it| {
        it["spec"] = thing("a", &[("x", &["k", "l"]), ("z", &["k"])])["spec"].take();
        it["status"]["externalId"] = Value::Null;
    });
    let theirs = json!({ "metadata": { "name": "theirs", "namespace": "n" } });
    cluster.put("configmaps", &theirs).unwrap();
    let mut paused = thing("c", &[("c", &["k"])]);
    paused["metadata"]["annotations"] = json!({ "test.dev/paused": "true" });
    let mut unreadable = thing("d", &[]);
    unreadable["spec"]["configs"] = json!(7);
    for it in [thing("b", &[("theirs", &["k"])]), paused, unreadable] {
        cluster.put("things.test.dev", &it).unwrap();
    }
    let (leases, events) = (cluster.list("leases.coordination.k8s.io"), cluster.list("events.events.k8s.io").len());
    let (report, failures) = dry_run(&cluster).await;
    let expected = "\
change  configmaps n/x: data.l
delete  configmaps n/y
create  configmaps n/z
change  things.test.dev n/b: metadata.finalizers
change  things.test.dev/status n/a: status.externalId
failed  things.test.dev n/b: NotOwned: ConfigMap `theirs` already exists and was not created by this operator: rename or delete it
paused  things.test.dev n/c: by `test.dev/paused`
failed  things.test.dev n/d: Undecodable: the log says why
dry run: 1 reconciled, 2 failed; 1 to create, 3 to change, 1 to delete";
    assert_eq!((report.as_str(), failures), (expected, 2));
    assert_eq!((data(&cluster, "x"), data(&cluster, "z")), (Some(json!({ "k": "1" })), None));
    assert!(data(&cluster, "y").is_some() && leases.is_empty());
    assert_eq!(cluster.list("events.events.k8s.io").len(), events, "no event is published");
}

#[tokio::test]
async fn no_request_of_a_dry_run_is_stored_whoever_makes_it() {
    let pod = json!({ "metadata": { "name": "p", "namespace": "n" } });
    let map = json!({ "metadata": { "name": "x", "namespace": "n", "labels": { "a": "b" } } });
    let cluster = Cluster::default().with("configmaps", &[map]).with("pods", &[pod]);
    let before = (cluster.activity().1, cluster.list("configmaps"), cluster.list("pods"));
    let operator = cluster.operator().into_dry_run();
    let api: Api<ConfigMap> = Api::namespaced(operator.client.clone(), "n");
    let mut found = api.get("x").await.unwrap();
    found.labels_mut().insert("a".into(), "c".into());
    api.replace("x", &PostParams::default(), &found).await.unwrap();
    api.create(&PostParams::default(), &serde_json::from_value(json!({ "metadata": { "name": "y" } })).unwrap())
        .await
        .unwrap();
    api.patch("x", &PatchParams::default(), &Patch::Merge(json!({ "data": { "k": "v" } }))).await.unwrap();
    api.delete("x", &DeleteParams::foreground()).await.unwrap();
    api.delete_collection(&DeleteParams::default(), &ListParams::default().labels("a=b")).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(operator.client.clone(), "n");
    // Of what is not there, nothing is deleted.
    api.delete_collection(&DeleteParams::default(), &ListParams::default().labels("a=z")).await.unwrap();
    let evicted = pods.evict("p", &Default::default()).await;
    let dry = cluster.requests().into_iter().filter(|it| it.is_write()).map(|it| (it.verb, it.is_dry_run));
    let expected =
        ["update", "create", "patch", "delete", "deletecollection", "deletecollection", "create"].map(|it| (it, true));
    assert_eq!(dry.collect::<Vec<_>>(), expected, "{evicted:?}");
    cluster.clear_log();
    for path in ["/api/v1/namespaces/n/pods/p/exec?command=rm", "/api/v1/nodes/a/proxy/run"] {
        for method in ["GET", "POST"] {
            let request = http::Request::builder().method(method).uri(path).body(vec![]).unwrap();
            let refused = operator.client.request_text(request).await.unwrap_err();
            let path = path.split('?').next().unwrap();
            assert_eq!(runtime::explain(&refused), format!("{method} {path} cannot be part of a dry run"));
        }
    }
    assert_eq!(cluster.requests(), [], "they never reach the server");
    let report = operator.dry_run.unwrap().to_string();
    let expected = "\
delete  configmaps n/x
create  configmaps n/y
not sent GET /api/v1/namespaces/n/pods/p/exec: it cannot be part of a dry run
not sent GET /api/v1/nodes/a/proxy/run: it cannot be part of a dry run
not sent POST /api/v1/namespaces/n/pods/p/exec: it cannot be part of a dry run
not sent POST /api/v1/nodes/a/proxy/run: it cannot be part of a dry run
";
    assert!(report.starts_with(expected), "{report}");
    assert_eq!((cluster.activity().1, cluster.list("configmaps"), cluster.list("pods")), before);
}

#[tokio::test]
async fn an_eviction_is_of_its_pod_though_its_answer_is_none() {
    let service = tower::service_fn(|request: Request<kube::client::Body>| async move {
        assert_eq!(request.uri().to_string(), "/api/v1/namespaces/n/pods/p/eviction?dryRun=All");
        let done = r#"{"kind":"Status","apiVersion":"v1","status":"Success","code":201}"#;
        Ok::<_, std::convert::Infallible>(Response::new(kube::client::Body::from(done.as_bytes().to_vec())))
    });
    let identity = Identity { name: "operator", version: "0.0.0" };
    let operator = Operator::new(identity, Client::new(service, "n")).into_dry_run();
    let pods: Api<Pod> = Api::namespaced(operator.client.clone(), "n");
    pods.evict("p", &EvictParams::default()).await.unwrap();
    let report = operator.dry_run.unwrap().to_string();
    assert!(report.starts_with("create  pods/eviction n/p\n"), "{report}");
}
