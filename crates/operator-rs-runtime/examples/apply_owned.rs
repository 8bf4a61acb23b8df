//! Server-side apply with ownership on kube's own `Controller`: each Deployment gets a ConfigMap.

use futures::StreamExt;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{
    Api, Client,
    runtime::{
        controller::{Action, Controller},
        watcher,
    },
};
use operator_rs_runtime::{CancellationToken, Error, apply_owned};
use std::{collections::BTreeMap, future::ready, sync::Arc, time::Duration};

pub async fn run(client: Client, stop: CancellationToken) {
    Controller::new(Api::<Deployment>::all(client.clone()), watcher::Config::default())
        .owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .graceful_shutdown_on(stop.cancelled_owned())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), Arc::new(client))
        .for_each(|_| ready(()))
        .await;
}

async fn reconcile(deployment: Arc<Deployment>, client: Arc<Client>) -> Result<Action, Error> {
    let mut config = ConfigMap { data: Some(BTreeMap::from([("a".into(), "1".into())])), ..ConfigMap::default() };
    config.metadata.name = deployment.metadata.name.clone();
    apply_owned(&client, "example", &*deployment, &config).await?;
    Ok(Action::await_change())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    run(Client::try_default().await?, CancellationToken::new()).await;
    Ok(())
}
