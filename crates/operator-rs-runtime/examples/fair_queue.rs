//! The fair workqueue with a watch of one's own, and at most two reconciles at a time.

use futures::{StreamExt, stream::FuturesUnordered};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    runtime::{WatchStreamExt, watcher},
};
use operator_rs_runtime::{Error, FairQueue};
use std::time::Duration;

pub async fn run(client: Client, reconcile: impl AsyncFn(&str)) {
    let queue = FairQueue::new(Duration::from_millis(100));
    let watch = watcher(Api::<ConfigMap>::all(client), watcher::Config::default()).default_backoff().applied_objects();
    let events = watch.for_each(async |event| {
        if let Ok(config) = event {
            queue.add(&format!("{}/{}", config.namespace().unwrap_or_default(), config.name_any()));
        }
    });
    let workers = async {
        let mut running = FuturesUnordered::new();
        loop {
            tokio::select! {
                key = queue.next(), if running.len() < 2 => {
                    let (queue, reconcile) = (&queue, &reconcile);
                    running.push(async move {
                        reconcile(&key).await;
                        queue.done(key, None);
                    });
                }
                Some(()) = running.next() => {}
            }
        }
    };
    tokio::select! {
        () = events => {}
        () = workers => {}
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    run(Client::try_default().await?, async |key| println!("{key}")).await;
    Ok(())
}
