//! The owner of applied objects is the object that is reconciled.

mod kinds;

use k8s_openapi::api::core::v1::ConfigMap;
use kinds::{Operates as _, Thing, config, labels, quiet, thing, until};
use operator_rs_runtime::{Action, Controller, Error, Manager, Owned};
use operator_rs_testing::Cluster;
use serde_json::{from_value, json};
use std::sync::Arc;

struct Ctx {
    configs: Owned<ConfigMap, Thing>,
}

/// Names and data, and nothing else.
async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    for (name, data) in &thing.spec.configs {
        let bare: ConfigMap = from_value(json!({ "metadata": { "name": name }, "data": data }))?;
        ctx.configs.apply(&thing, &bare).await?;
    }
    Ok(Action::await_change())
}

async fn run(manager: Manager) -> operator_rs_runtime::Result<()> {
    let mut controller = Controller::new(&manager);
    let ctx = Ctx { configs: controller.owns(&labels()) };
    controller.run(reconcile, Arc::new(ctx)).await
}

#[tokio::test]
async fn a_dependent_belongs_to_the_object_that_is_reconciled() {
    let things = [thing("a", &[("x", &["k"])]), thing("b", &[("y", &["k"])])];
    let cluster = Cluster::default().with_json("things.test.dev", &things);
    let manager = cluster.manager();
    let running = tokio::spawn(run(manager.clone()));
    until("made", || cluster.list_json("configmaps").len() == 2).await;
    for (owner, dependent) in [("a", "x"), ("b", "y")] {
        let owner: Thing = from_value(cluster.get_json("things.test.dev", "n", owner).unwrap()).unwrap();
        let found: ConfigMap = from_value(cluster.get_json("configmaps", "n", dependent).unwrap()).unwrap();
        let expected = config(&owner, dependent).metadata;
        let of = |it: &ConfigMap| (it.metadata.labels.clone(), it.metadata.owner_references.clone());
        assert_eq!(of(&found), (expected.labels, expected.owner_references));
    }
    // It is watched as such, and deleted with its owner.
    cluster.edit_json("configmaps", "n", "x", |it| it["data"]["k"] = json!("edited"));
    until("put back", || kinds::data(&cluster, "x") == Some(json!({ "k": "1" }))).await;
    cluster.delete_json("things.test.dev", "n", "a");
    until("deleted with its owner", || cluster.get_json("configmaps", "n", "x").is_none()).await;
    quiet().await;
    manager.stop.cancel();
    running.await.unwrap().unwrap();
}
