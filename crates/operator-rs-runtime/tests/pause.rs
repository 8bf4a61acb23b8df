//! The annotation `<domain>/paused`.

mod kinds;

use k8s_openapi::api::core::v1::ConfigMap;
use kinds::{Operates as _, Thing, condition, config, data, labels, quiet, thing, until};
use kube::{
    ResourceExt,
    runtime::{Predicate, predicates},
};
use operator_rs_runtime::{
    Action, Controller, Error, FinalizerEvent, Manager, Owned, Primary, WatchOptions, finalizer,
};
use operator_rs_testing::{Cluster, FaultRule};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use tokio::task::JoinHandle;

struct Ctx {
    things: Primary<Thing>,
    configs: Owned<ConfigMap, Thing>,
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    let step = finalizer(&ctx.things, "test.dev/clean", thing, async |event| {
        if let FinalizerEvent::Apply(thing) = event {
            for name in thing.spec.configs.keys() {
                ctx.configs.apply(&thing, &config(&thing, name)).await?;
            }
        }
        Ok::<_, Error>(Action::await_change())
    });
    step.await
}

/// A controller whose predicate does not look at annotations.
fn start(cluster: &Cluster) -> (Manager, JoinHandle<operator_rs_runtime::Result<()>>) {
    let manager = cluster.manager();
    let seen = predicates::generation::<Thing>.combine(predicates::finalizers);
    let mut controller = Controller::with_watch_options(&manager, WatchOptions::default().predicate(seen));
    let ctx = Ctx { configs: controller.owns(&labels()), things: controller.primary() };
    (manager, tokio::spawn(controller.run(reconcile, Arc::new(ctx))))
}

fn paused(name: &str, value: &str) -> Value {
    let mut thing = thing(name, &[("x", &["k"])]);
    thing["metadata"]["annotations"] = json!({ "test.dev/paused": value });
    thing
}

#[tokio::test]
async fn an_object_that_is_paused_is_left_alone_until_the_annotation_goes() {
    let cluster = Cluster::default().with_json("things.test.dev", &[paused("a", "true")]);
    let (manager, task) = start(&cluster);
    until("paused", || condition(&cluster, "a", "Paused").is_some()).await;
    let told = condition(&cluster, "a", "Paused").unwrap();
    assert_eq!(
        (&told["status"], &told["reason"], &told["message"]),
        (
            &json!("True"),
            &json!("Paused"),
            &json!("paused by the annotation `test.dev/paused`: remove it to reconcile the object")
        )
    );
    until("told by an event", || cluster.list_json("events.events.k8s.io").len() == 1).await;
    cluster.edit_json("things.test.dev", "n", "a", |it| it["spec"]["configs"]["y"] = json!({}));
    quiet().await;
    let writes = ["PATCH things.test.dev/status", "POST events.events.k8s.io", "PATCH things.test.dev/status"];
    let what = || cluster.writes().into_iter().map(|it| it.summary).collect::<Vec<_>>();
    assert_eq!(what(), writes, "the condition follows the generation");
    manager.stop.cancel();
    task.await.unwrap().unwrap();

    let (manager, task) = start(&cluster);
    quiet().await;
    assert_eq!(what(), writes, "a new process has nothing to add");
    cluster.edit_json("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
    until("reconciled", || data(&cluster, "x").is_some()).await;
    assert_eq!(condition(&cluster, "a", "Paused"), None);

    cluster.edit_json("things.test.dev", "n", "a", |it| {
        it["metadata"]["annotations"] = json!({ "test.dev/paused": "true" })
    });
    until("paused again", || condition(&cluster, "a", "Paused").is_some()).await;
    cluster.delete_json("configmaps", "n", "x");
    quiet().await;
    assert_eq!(data(&cluster, "x"), None, "it is not made again");
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn another_value_pauses_nothing() {
    let cluster = Cluster::default().with_json("things.test.dev", &[paused("a", "false")]);
    let (manager, task) = start(&cluster);
    until("reconciled", || data(&cluster, "x").is_some()).await;
    assert_eq!(condition(&cluster, "a", "Paused"), None);
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_deletion_of_an_object_that_is_paused_waits() {
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[])]);
    let (manager, task) = start(&cluster);
    let finalizers = || cluster.get_json("things.test.dev", "n", "a").map(|it| it["metadata"]["finalizers"].clone());
    until("guarded", || finalizers() == Some(json!(["test.dev/clean"]))).await;
    cluster.edit_json("things.test.dev", "n", "a", |it| {
        it["metadata"]["annotations"] = json!({ "test.dev/paused": "true" })
    });
    until("paused", || condition(&cluster, "a", "Paused").is_some()).await;
    cluster.delete_json("things.test.dev", "n", "a");
    let waits =
        || condition(&cluster, "a", "Paused").is_some_and(|it| it["message"].as_str().unwrap().contains("wait"));
    until("told", waits).await;
    quiet().await;
    assert_eq!(finalizers(), Some(json!(["test.dev/clean"])));
    cluster.edit_json("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
    until("gone", || finalizers().is_none()).await;
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_failure_that_was_reported_before_stays_reported() {
    let theirs = json!({ "metadata": { "name": "x", "namespace": "n" } });
    let cluster = Cluster::default()
        .with_json("configmaps", &[theirs])
        .with_json("things.test.dev", &[thing("a", &[("x", &["k"])])]);
    let (manager, task) = start(&cluster);
    until("failed", || condition(&cluster, "a", "Degraded").is_some()).await;
    cluster.edit_json("things.test.dev", "n", "a", |it| {
        it["metadata"]["annotations"] = json!({ "test.dev/paused": "true" })
    });
    until("paused", || condition(&cluster, "a", "Paused").is_some()).await;
    assert!(condition(&cluster, "a", "Degraded").is_some());
    cluster.delete_json("configmaps", "n", "x");
    cluster.edit_json("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
    until("well", || data(&cluster, "x").is_some() && condition(&cluster, "a", "Degraded").is_none()).await;
    assert_eq!(condition(&cluster, "a", "Paused"), None);
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_kind_of_others_is_paused_by_an_annotation_of_choice_and_told_by_an_event() {
    let mut theirs = json!({ "metadata": { "name": "a", "namespace": "n" } });
    theirs["metadata"]["annotations"] = json!({ "test.dev/paused": "true" });
    let cluster = Cluster::default().with_json("configmaps", &[theirs]);
    let manager = cluster.manager();
    let mut controller = Controller::<ConfigMap>::new(&manager);
    controller.pause_annotation("test.dev/paused");
    let configs = controller.primary();
    let reconcile = |it: Arc<ConfigMap>, _: Arc<()>| async move {
        assert!(it.annotations().is_empty(), "it is paused");
        Ok::<_, Error>(Action::await_change())
    };
    let task = tokio::spawn(controller.run(reconcile, Arc::new(())));
    until("told", || cluster.list_json("events.events.k8s.io").len() == 1).await;
    assert_eq!(cluster.list_json("events.events.k8s.io")[0]["reason"], "Paused");
    quiet().await;
    assert_eq!(cluster.writes().len(), 1);
    cluster.edit_json("configmaps", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
    until("reconciled", || kinds::reconciled(&manager) == 1).await;
    assert_eq!(configs.store().len(), 1);
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_object_that_is_resumed_while_its_pause_is_reported_is_not_reported_as_paused() {
    let resumed: Arc<OnceLock<Cluster>> = Arc::default();
    let resume = resumed.clone();
    let cluster = Cluster::default().with_json("things.test.dev", &[paused("a", "true")]).with_fault(
        FaultRule::for_writes(move |it| {
            if let ("things.test.dev", Some(cluster)) = (it.resource.as_str(), resume.get()) {
                cluster.edit_json("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
            }
            None
        }),
    );
    let _ = resumed.set(cluster.clone());
    let (manager, task) = start(&cluster);
    until("reconciled", || data(&cluster, "x").is_some()).await;
    quiet().await;
    assert_eq!(cluster.count_writes("PATCH things.test.dev/status"), 1, "it was refused, and not tried again");
    assert_eq!(cluster.list_json("events.events.k8s.io"), [json!(null); 0]);
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}
