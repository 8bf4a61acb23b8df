//! Empty fields that somebody has replaced by another member of their union.

mod kinds;

use k8s_openapi::api::apps::v1::Deployment;
use kinds::{Operates as _, Thing, condition, labels, quiet, thing, until};
use operator_rs_runtime::{Action, Controller, Dependents, Error, Owned};
use operator_rs_testing::{Cluster, Fault, FaultRule};
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// The cache of the Deployments, and all caches.
type Ctx = (Owned<Deployment, Thing>, Dependents<Thing>);

fn deployment() -> Deployment {
    let volumes = json!([{ "name": "tmp", "emptyDir": {} }]);
    let template = json!({ "spec": { "containers": [{ "name": "c" }], "volumes": volumes } });
    let spec = json!({ "selector": {}, "template": template });
    serde_json::from_value(json!({ "metadata": { "name": "d" }, "spec": spec })).unwrap()
}

fn volume(cluster: &Cluster) -> Value {
    cluster.get_json("deployments.apps", "n", "d").unwrap()["spec"]["template"]["spec"]["volumes"][0].take()
}

#[tokio::test]
async fn a_volume_that_somebody_has_replaced_is_put_back_or_reported() {
    // As the real server, which takes no volume with two sources.
    let is_invalid = Arc::new(AtomicBool::new(false));
    let refuse = is_invalid.clone();
    let cluster = Cluster::default().with_json("things.test.dev", &[thing("a", &[])]).with_fault(
        FaultRule::for_writes(move |it| match it.resource == "deployments.apps" && refuse.load(Ordering::Relaxed) {
            true => Some(Fault::Refuse { code: 422 }),
            false => None,
        }),
    );
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let ctx = (controller.owns::<Deployment>(&labels()), controller.dependents());
    let reconcile = |thing: Arc<Thing>, ctx: Arc<Ctx>| async move {
        ctx.0.apply(&thing, &deployment()).await?;
        Ok::<_, Error>(Action::await_change())
    };
    let task = tokio::spawn(controller.run(reconcile, Arc::new(ctx)));
    until("made", || cluster.get_json("deployments.apps", "n", "d").is_some()).await;
    quiet().await;

    let replace = || {
        cluster.edit_json("deployments.apps", "n", "d", |it| {
            it["spec"]["template"]["spec"]["volumes"] = json!([{ "name": "tmp", "hostPath": { "path": "/" } }]);
        });
    };
    is_invalid.store(true, Ordering::Relaxed);
    replace();
    until("told", || condition(&cluster, "a", "Degraded").is_some()).await;
    let told = condition(&cluster, "a", "Degraded").unwrap();
    let message = "Deployment `d`: `spec.template.spec.volumes[0].emptyDir` was replaced by `hostPath`, which server-side \
                   apply cannot undo: remove that or delete the object: ";
    assert_eq!(told["reason"], "Replaced");
    assert!(told["message"].as_str().unwrap().starts_with(message), "{told}");
    until("told by an event", || cluster.list_json("events.events.k8s.io").iter().any(|it| it["reason"] == "Replaced"))
        .await;

    is_invalid.store(false, Ordering::Relaxed);
    until("put back", || volume(&cluster)["emptyDir"].is_object()).await;
    until("told no more", || condition(&cluster, "a", "Degraded").is_none()).await;
    replace();
    until("put back", || volume(&cluster)["emptyDir"].is_object()).await;
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}
