//! An operator on kube's own `Controller` that adopts leader election, metrics and probes, and nothing else.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    runtime::{
        controller::{Action, Controller},
        watcher,
    },
};
use operator_rs_runtime::{
    CancellationToken, Error, LeaderElection, Readiness,
    metrics::{ControllerMetrics, Metrics},
    serve_metrics, serve_probes,
};
use std::{convert::Infallible, future::ready, net::SocketAddr, sync::Arc, time::Duration};

pub async fn run(client: Client, stop: CancellationToken, [probes, pages]: [SocketAddr; 2]) -> Result<(), Error> {
    let (metrics, readiness) = (Arc::new(Metrics::default()), Readiness::default());
    serve_probes(probes, &readiness, &stop).await?;
    serve_metrics(pages, &metrics, &stop).await?;
    let election = LeaderElection::new("example", &client).with_metrics(&metrics);
    let Some(leadership) = election.acquire(&client, &stop).await? else { return Ok(()) };
    let controller = Controller::new(Api::<ConfigMap>::all(client), watcher::Config::default())
        .graceful_shutdown_on(stop.cancelled_owned())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(5)), Arc::new(metrics.controller("configmap")))
        .for_each(|_| ready(()));
    tokio::select! {
        () = controller => {}
        () = leadership.lost() => return Err(Error::ControllerFailed("lost the Lease".into())),
    }
    leadership.release().await;
    Ok(())
}

async fn reconcile(config: Arc<ConfigMap>, metrics: Arc<ControllerMetrics>) -> Result<Action, Infallible> {
    let work = async {
        println!("{:?}", config.metadata.name);
        Ok(Action::await_change())
    };
    metrics.observe(work).await
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::try_default().await?;
    run(client, CancellationToken::new(), [([0, 0, 0, 0], 8081).into(), ([0, 0, 0, 0], 8080).into()]).await
}
