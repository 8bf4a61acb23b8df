//! The annotation `<domain>/paused`.

mod kinds;

use k8s_openapi::api::core::v1::ConfigMap;
use kinds::{Operates as _, Thing, condition, config, data, labels, quiet, thing, until};
use kube::{
    ResourceExt,
    runtime::{Predicate, predicates},
};
use operator_rs_testing::{Cluster, Reaction};
use runtime::{Action, Children, Controller, Error, Operator, Primary, Watch, finalizer::Event};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use tokio::task::JoinHandle;

struct Ctx {
    things: Arc<Primary<Thing>>,
    configs: Arc<Children<ConfigMap>>,
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    let step = runtime::finalizer(&ctx.things, "test.dev/clean", thing, async |event| {
        if let Event::Apply(thing) = event {
            for name in thing.spec.configs.keys() {
                ctx.configs.apply(&config(&thing, name)).await?;
            }
        }
        Ok::<_, Error>(Action::await_change())
    });
    step.await
}

/// A controller whose predicate does not look at annotations.
fn start(cluster: &Cluster) -> (Operator, JoinHandle<anyhow::Result<()>>) {
    let operator = cluster.operator();
    let seen = predicates::generation::<Thing>.combine(predicates::finalizers);
    let mut controller = Controller::with(&operator, Watch::default().predicate(seen));
    let ctx = Ctx { configs: controller.owns(&labels()), things: controller.primary() };
    (operator, tokio::spawn(controller.run(reconcile, Arc::new(ctx))))
}

fn paused(name: &str, value: &str) -> Value {
    let mut thing = thing(name, &[("x", &["k"])]);
    thing["metadata"]["annotations"] = json!({ "test.dev/paused": value });
    thing
}

#[tokio::test]
async fn an_object_that_is_paused_is_left_alone_until_the_annotation_goes() {
    let cluster = Cluster::default().with("things.test.dev", &[paused("a", "true")]);
    let (operator, task) = start(&cluster);
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
    until("told by an event", || cluster.list("events.events.k8s.io").len() == 1).await;
    cluster.edit("things.test.dev", "n", "a", |it| it["spec"]["configs"]["y"] = json!({}));
    quiet().await;
    let writes = ["PATCH things.test.dev/status", "POST events.events.k8s.io", "PATCH things.test.dev/status"];
    let what = || cluster.writes().into_iter().map(|it| it.what).collect::<Vec<_>>();
    assert_eq!(what(), writes, "the condition follows the generation");
    operator.stop.cancel();
    task.await.unwrap().unwrap();

    let (operator, task) = start(&cluster);
    quiet().await;
    assert_eq!(what(), writes, "a new process has nothing to add");
    cluster.edit("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
    until("reconciled", || data(&cluster, "x").is_some()).await;
    assert_eq!(condition(&cluster, "a", "Paused"), None);

    cluster
        .edit("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({ "test.dev/paused": "true" }));
    until("paused again", || condition(&cluster, "a", "Paused").is_some()).await;
    cluster.delete("configmaps", "n", "x");
    quiet().await;
    assert_eq!(data(&cluster, "x"), None, "it is not made again");
    operator.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn another_value_pauses_nothing() {
    let cluster = Cluster::default().with("things.test.dev", &[paused("a", "false")]);
    let (operator, task) = start(&cluster);
    until("reconciled", || data(&cluster, "x").is_some()).await;
    assert_eq!(condition(&cluster, "a", "Paused"), None);
    operator.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_deletion_of_an_object_that_is_paused_waits() {
    let cluster = Cluster::default().with("things.test.dev", &[thing("a", &[])]);
    let (operator, task) = start(&cluster);
    let finalizers = || cluster.get("things.test.dev", "n", "a").map(|it| it["metadata"]["finalizers"].clone());
    until("guarded", || finalizers() == Some(json!(["test.dev/clean"]))).await;
    cluster
        .edit("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({ "test.dev/paused": "true" }));
    until("paused", || condition(&cluster, "a", "Paused").is_some()).await;
    cluster.delete("things.test.dev", "n", "a");
    let waits =
        || condition(&cluster, "a", "Paused").is_some_and(|it| it["message"].as_str().unwrap().contains("wait"));
    until("told", waits).await;
    quiet().await;
    assert_eq!(finalizers(), Some(json!(["test.dev/clean"])));
    cluster.edit("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
    until("gone", || finalizers().is_none()).await;
    operator.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_failure_that_was_reported_before_stays_reported() {
    let theirs = json!({ "metadata": { "name": "x", "namespace": "n" } });
    let cluster =
        Cluster::default().with("configmaps", &[theirs]).with("things.test.dev", &[thing("a", &[("x", &["k"])])]);
    let (operator, task) = start(&cluster);
    until("failed", || condition(&cluster, "a", "Degraded").is_some()).await;
    cluster
        .edit("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({ "test.dev/paused": "true" }));
    until("paused", || condition(&cluster, "a", "Paused").is_some()).await;
    assert!(condition(&cluster, "a", "Degraded").is_some());
    cluster.delete("configmaps", "n", "x");
    cluster.edit("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
    until("well", || data(&cluster, "x").is_some() && condition(&cluster, "a", "Degraded").is_none()).await;
    assert_eq!(condition(&cluster, "a", "Paused"), None);
    operator.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_kind_of_others_is_paused_by_an_annotation_of_choice_and_told_by_an_event() {
    let mut theirs = json!({ "metadata": { "name": "a", "namespace": "n" } });
    theirs["metadata"]["annotations"] = json!({ "test.dev/paused": "true" });
    let cluster = Cluster::default().with("configmaps", &[theirs]);
    let operator = cluster.operator();
    let mut controller = Controller::<ConfigMap>::new(&operator);
    controller.paused_by("test.dev/paused");
    let configs = controller.primary();
    let reconcile = |it: Arc<ConfigMap>, _: Arc<()>| async move {
        assert!(it.annotations().is_empty(), "it is paused");
        Ok::<_, Error>(Action::await_change())
    };
    let task = tokio::spawn(controller.run(reconcile, Arc::new(())));
    until("told", || cluster.list("events.events.k8s.io").len() == 1).await;
    assert_eq!(cluster.list("events.events.k8s.io")[0]["reason"], "Paused");
    quiet().await;
    assert_eq!(cluster.writes().len(), 1);
    cluster.edit("configmaps", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
    until("reconciled", || kinds::reconciled(&operator) == 1).await;
    assert_eq!(configs.store().len(), 1);
    operator.stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_object_that_is_resumed_while_its_pause_is_reported_is_not_reported_as_paused() {
    let resumed: Arc<OnceLock<Cluster>> = Arc::default();
    let resume = resumed.clone();
    let cluster = Cluster::default().with("things.test.dev", &[paused("a", "true")]).on_write(move |it| {
        if let ("things.test.dev", Some(cluster)) = (it.resource.as_str(), resume.get()) {
            cluster.edit("things.test.dev", "n", "a", |it| it["metadata"]["annotations"] = json!({}));
        }
        Reaction::Pass
    });
    let _ = resumed.set(cluster.clone());
    let (operator, task) = start(&cluster);
    until("reconciled", || data(&cluster, "x").is_some()).await;
    quiet().await;
    assert_eq!(cluster.count("PATCH things.test.dev/status"), 1, "it was refused, and not tried again");
    assert_eq!(cluster.list("events.events.k8s.io"), [json!(null); 0]);
    operator.stop.cancel();
    task.await.unwrap().unwrap();
}
