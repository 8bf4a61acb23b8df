//! The example of README.md, a controller with kube-runtime's `owns`: it misses the deletion of a dependent while its watch is
//! down. If this fails, kube has learned it, and README.md needs another example.

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams},
    runtime::{Controller, controller::Action, watcher},
};
use operator_rs_testing::{CancellationToken, Cluster, faults};
use serde_json::json;
use std::{sync::Arc, time::Duration};

async fn reconcile(config: Arc<ConfigMap>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let secrets: Api<Secret> = Api::default_namespaced(Client::clone(&client));
    let secret = json!({ "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": "a", "ownerReferences": [config.controller_owner_ref(&())] } });
    if secrets.get_opt(&config.name_any()).await?.is_none() {
        secrets.patch("a", &PatchParams::apply("test").force(), &Patch::Apply(secret)).await?;
    }
    Ok(Action::await_change())
}

async fn run(client: Client, stop: CancellationToken) -> Result<(), kube::Error> {
    let retry = |_, _: &kube::Error, _| Action::requeue(Duration::from_millis(100));
    Controller::new(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .owns(Api::<Secret>::all(client.clone()), watcher::Config::default())
        .graceful_shutdown_on(stop.cancelled_owned())
        .run(reconcile, retry, Arc::new(client))
        .for_each(|_| async {})
        .await;
    Ok(())
}

#[tokio::test]
async fn the_deletion_of_a_dependent_while_its_watch_is_down_is_found() {
    let metadata = ObjectMeta { name: Some("a".into()), namespace: Some("default".into()), ..ObjectMeta::default() };
    let config = ConfigMap { metadata, ..ConfigMap::default() };
    let check = faults::FaultCheck::new(|| Cluster::default().with_object(&config), run);
    let check = check.then(|cluster| cluster.delete::<Secret>("default", "a")).timeout(Duration::from_secs(10));
    let problems = check.try_run().await.unwrap_err();
    let expected = "with all events after step 1 lost until the watches end with 410: the state is not the one of the \
        undisturbed run:\n  secrets default/a is missing";
    assert_eq!(problems, [expected]);
}
