//! Sites on a cluster, and a controller that runs until the test has seen enough.

use api::web::v1alpha1::Site;
use kube::{Client, CustomResourceExt};
use operator_rs_runtime::{Manager, Result, identity};
use operator_rs_testing::{CancellationToken, Cluster};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

pub const SITES: &str = "sites.web.example.com";

/// A Site in the namespace `default`.
pub fn site(name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "web.example.com/v1alpha1", "kind": "Site", "spec": spec,
        "metadata": { "name": name, "namespace": "default", "uid": format!("uid-{name}"), "generation": 1 },
    })
}

/// A cluster with Sites.
pub fn cluster(sites: &[Value]) -> Cluster {
    Cluster::default().with_crds(&[Site::crd()]).with_json(SITES, sites)
}

/// The names of all objects of a resource.
pub fn names(cluster: &Cluster, resource: &str) -> Vec<String> {
    let objects = cluster.list_json(resource);
    objects.iter().map(|it| it["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// A ConfigMap's value for a key.
pub fn value(cluster: &Cluster, config: &str, key: &str) -> Option<Value> {
    cluster.get_json("configmaps", "default", config).map(|it| it["data"][key].clone())
}

/// Waits until something is true.
pub async fn until(what: &str, is: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < limit, "{what}: not within 20 s");
        sleep(Duration::from_millis(10)).await;
    }
}

fn manager(client: Client, stop: CancellationToken) -> Manager {
    Manager::new(identity!(), client).with_stop(stop)
}

/// A controller as the tests of the API server in memory run it.
pub fn of<F>(controller: impl Fn(Manager) -> F) -> impl Fn(Client, CancellationToken) -> F {
    move |client, stop| controller(manager(client, stop))
}

/// How often the controllers of an operator have reconciled.
pub fn reconciled(manager: &Manager) -> u64 {
    let text = manager.metrics.encode();
    let lines = text.lines().filter(|it| it.starts_with("controller_runtime_reconcile_total{"));
    lines.filter_map(|it| it.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// A controller that runs.
pub struct Running {
    pub manager: Manager,
    task: JoinHandle<Result<()>>,
}

impl Running {
    pub fn start<F, Fut>(cluster: &Cluster, controller: F) -> Self
    where
        F: FnOnce(Manager) -> Fut,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        let manager = manager(cluster.client(), CancellationToken::new());
        Self { manager: manager.clone(), task: tokio::spawn(controller(manager)) }
    }

    pub async fn stop(self) {
        sleep(Duration::from_millis(300)).await;
        self.manager.stop.cancel();
        self.task.await.unwrap().unwrap();
    }
}
