//! The owner of applied objects is the object that is reconciled.

mod kinds;

use k8s_openapi::api::core::v1::ConfigMap;
use kinds::{Operates as _, Thing, config, labels, quiet, thing, until};
use operator_rs_testing::Cluster;
use runtime::{Action, Children, Controller, Error, Operator};
use serde_json::{from_value, json};
use std::sync::Arc;

struct Ctx {
    configs: Arc<Children<ConfigMap>>,
}

/// Names and data, and nothing else.
async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    for (name, data) in &thing.spec.configs {
        let bare: ConfigMap = from_value(json!({ "metadata": { "name": name }, "data": data }))?;
        ctx.configs.apply(&bare).await?;
    }
    Ok(Action::await_change())
}

async fn run(operator: Operator) -> anyhow::Result<()> {
    let mut controller = Controller::new(&operator);
    let ctx = Ctx { configs: controller.owns(&labels()) };
    controller.run(reconcile, Arc::new(ctx)).await
}

#[tokio::test]
async fn a_child_belongs_to_the_object_that_is_reconciled() {
    let things = [thing("a", &[("x", &["k"])]), thing("b", &[("y", &["k"])])];
    let cluster = Cluster::default().with("things.test.dev", &things);
    let operator = cluster.operator();
    let running = tokio::spawn(run(operator.clone()));
    until("made", || cluster.list("configmaps").len() == 2).await;
    for (parent, child) in [("a", "x"), ("b", "y")] {
        let parent: Thing = from_value(cluster.get("things.test.dev", "n", parent).unwrap()).unwrap();
        let found: ConfigMap = from_value(cluster.get("configmaps", "n", child).unwrap()).unwrap();
        let expected = config(&parent, child).metadata;
        let of = |it: &ConfigMap| (it.metadata.labels.clone(), it.metadata.owner_references.clone());
        assert_eq!(of(&found), (expected.labels, expected.owner_references));
    }
    // It is watched as such, and deleted with its owner.
    cluster.edit("configmaps", "n", "x", |it| it["data"]["k"] = json!("edited"));
    until("put back", || kinds::data(&cluster, "x") == Some(json!({ "k": "1" }))).await;
    cluster.delete("things.test.dev", "n", "a");
    until("deleted with its owner", || cluster.get("configmaps", "n", "x").is_none()).await;
    quiet().await;
    operator.stop.cancel();
    running.await.unwrap().unwrap();
}
