//! What a controller promises about the objects that it makes.

mod kinds;

use k8s_openapi::api::core::v1::ConfigMap;
use kinds::{Thing, condition, config, data, labels, quiet, thing, until};
use runtime::{Action, Children, Controller, Error, Operator, Owned, testing::Cluster};
use serde_json::json;
use std::sync::Arc;
use tokio::task::JoinHandle;

struct Ctx {
    owned: Arc<Owned<Thing>>,
    configs: Arc<Children<ConfigMap>>,
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    let mut set = ctx.owned.of(&thing);
    for name in thing.spec.configs.keys() {
        set.apply(&ctx.configs, &config(&thing, name)).await?;
    }
    set.prune().await?;
    Ok(Action::await_change())
}

async fn run(operator: Operator) -> anyhow::Result<()> {
    let mut controller = Controller::new(&operator);
    let configs = controller.owns(&labels());
    let ctx = Ctx { owned: controller.owned(), configs };
    controller.run(reconcile, Arc::new(ctx)).await
}

struct Running(Operator, JoinHandle<anyhow::Result<()>>);

impl Running {
    fn start(cluster: &Cluster) -> Self {
        let operator = cluster.operator();
        Self(operator.clone(), tokio::spawn(run(operator)))
    }

    async fn stop(self) {
        self.0.stop.cancel();
        self.1.await.unwrap().unwrap();
    }
}

/// Nothing that is asked of a new process is a write.
async fn a_restart_writes_nothing(cluster: &Cluster) {
    cluster.clear_log();
    let again = Running::start(cluster);
    quiet().await;
    again.stop().await;
    assert_eq!(cluster.writes(), []);
}

#[tokio::test]
async fn what_is_not_desired_any_more_goes() {
    let cluster = Cluster::default().with("things.test.dev", &[thing("a", &[("x", &["k", "l"]), ("y", &["k"])])]);
    let running = Running::start(&cluster);
    until("made", || cluster.list("configmaps").len() == 2).await;

    cluster.edit("things.test.dev", "n", "a", |it| {
        it["spec"] = thing("a", &[("x", &["k"]), ("y", &["k"])])["spec"].take()
    });
    until("without the key", || data(&cluster, "x") == Some(json!({ "k": "1" }))).await;

    cluster.edit("things.test.dev", "n", "a", |it| it["spec"] = thing("a", &[("x", &[])])["spec"].take());
    until("gone", || data(&cluster, "y").is_none()).await;
    until("empty", || {
        cluster.get("configmaps", "n", "x").is_some_and(|it| it["data"].as_object().is_none_or(|it| it.is_empty()))
    })
    .await;
    quiet().await;
    running.stop().await;
    a_restart_writes_nothing(&cluster).await;
}

#[tokio::test]
async fn what_is_removed_while_nobody_looks_goes_after_the_start() {
    let cluster = Cluster::default().with("things.test.dev", &[thing("a", &[("x", &["k", "l"]), ("y", &["k"])])]);
    let running = Running::start(&cluster);
    until("made", || cluster.list("configmaps").len() == 2).await;
    quiet().await;
    running.stop().await;
    cluster.edit("things.test.dev", "n", "a", |it| it["spec"] = thing("a", &[("x", &["k"])])["spec"].take());
    let running = Running::start(&cluster);
    until("without the key", || data(&cluster, "x") == Some(json!({ "k": "1" }))).await;
    until("gone", || data(&cluster, "y").is_none()).await;
    quiet().await;
    running.stop().await;
    a_restart_writes_nothing(&cluster).await;
}

#[tokio::test]
async fn what_others_add_stays_and_what_they_change_is_put_back() {
    let cluster = Cluster::default().with("things.test.dev", &[thing("a", &[("x", &["k"])])]);
    let running = Running::start(&cluster);
    until("made", || data(&cluster, "x").is_some()).await;
    cluster.edit("configmaps", "n", "x", |it| it["data"] = json!({ "k": "2", "theirs": "3" }));
    until("put back", || data(&cluster, "x") == Some(json!({ "k": "1", "theirs": "3" }))).await;
    cluster.edit("configmaps", "n", "x", |it| it["metadata"]["ownerReferences"] = json!([]));
    until("owned again", || {
        cluster.get("configmaps", "n", "x").is_some_and(|it| it["metadata"]["ownerReferences"][0]["name"] == "a")
    })
    .await;
    cluster.edit("configmaps", "n", "x", |it| it["metadata"]["labels"] = json!({ "app": "other" }));
    until("labelled again", || {
        cluster.get("configmaps", "n", "x").is_some_and(|it| it["metadata"]["labels"]["app"] == "thing")
    })
    .await;
    cluster.delete("configmaps", "n", "x");
    until("made again", || data(&cluster, "x") == Some(json!({ "k": "1" }))).await;
    quiet().await;
    running.stop().await;
    a_restart_writes_nothing(&cluster).await;
}

#[tokio::test]
async fn an_object_of_somebody_else_is_left_alone_and_that_is_told() {
    let theirs = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "x", "namespace": "n" }, "data": { "k": "theirs" } });
    let controlled = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "y", "namespace": "n", "labels": { "app": "thing" }, "ownerReferences": [
            { "apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true }] },
        "data": { "k": "theirs" },
    });
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p", "namespace": "n", "uid": "u" } });
    let cluster = Cluster::default()
        .with("pods", &[pod])
        .with("configmaps", &[theirs.clone(), controlled.clone()])
        .with("things.test.dev", &[thing("a", &[("x", &["k"])]), thing("b", &[("y", &["k"])])]);
    let running = Running::start(&cluster);
    for (name, message) in [
        ("a", "ConfigMap `x` already exists and was not created by this operator: rename or delete it"),
        ("b", "ConfigMap `y` already exists and is controlled by Pod `p`"),
    ] {
        until("told", || condition(&cluster, name, "Degraded").is_some()).await;
        let told = condition(&cluster, name, "Degraded").unwrap();
        assert_eq!((&told["reason"], &told["message"]), (&json!("NotOwned"), &json!(message)));
    }
    until("told by an event", || cluster.list("events.events.k8s.io").len() == 2).await;
    for (name, before) in [("x", &theirs), ("y", &controlled)] {
        let after = cluster.get("configmaps", "n", name).unwrap();
        assert_eq!(
            (&after["data"], &after["metadata"]["labels"], &after["metadata"]["ownerReferences"]),
            (&before["data"], &before["metadata"]["labels"], &before["metadata"]["ownerReferences"])
        );
    }
    cluster.delete("configmaps", "n", "x");
    until("made", || data(&cluster, "x") == Some(json!({ "k": "1" }))).await;
    until("told no more", || condition(&cluster, "a", "Degraded").is_none()).await;
    running.stop().await;
}

#[tokio::test]
async fn a_child_that_changes_its_owner_counts_for_the_new_one_only() {
    let cluster = Cluster::default().with("things.test.dev", &[thing("a", &[]), thing("b", &[])]);
    let operator = cluster.operator();
    let mut controller = Controller::<Thing>::new(&operator);
    let configs = controller.owns::<ConfigMap>(&labels());
    let reconcile = |_: Arc<Thing>, _: Arc<()>| async { Ok::<_, Error>(Action::await_change()) };
    let task = tokio::spawn(controller.run(reconcile, Arc::new(())));
    let parent = |name: &str| serde_json::from_value::<Thing>(thing(name, &[])).unwrap();
    let mut child = serde_json::to_value(config(&parent("a"), "x")).unwrap();
    cluster.put("configmaps", &child).unwrap();
    until("seen", || configs.of(&parent("a")).len() == 1).await;
    child["metadata"]["ownerReferences"] =
        serde_json::to_value(&config(&parent("b"), "x").metadata.owner_references).unwrap();
    cluster.put("configmaps", &child).unwrap();
    until("moved", || configs.of(&parent("b")).len() == 1).await;
    assert_eq!(configs.of(&parent("a")).len(), 0);
    child["metadata"]["ownerReferences"] = json!([]);
    cluster.put("configmaps", &child).unwrap();
    until("without a parent", || configs.of(&parent("b")).is_empty()).await;
    operator.stop.cancel();
    task.await.unwrap().unwrap();
}
