//! A kind to reconcile, and how the tests look at the cluster.
#![allow(dead_code)] // each test uses a part of it

use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta},
};
use kube::{CustomResource, Resource, ResourceExt};
use operator_rs_runtime::{Action, Controller, Error, Identity, Labels, Manager, Owned};
use operator_rs_testing::Cluster;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "test.dev", version = "v1", kind = "Thing", namespaced, status = "ThingStatus", schema = "disabled")]
pub struct ThingSpec {
    /// The ConfigMaps that it wants, with their data.
    #[serde(default)]
    pub configs: BTreeMap<String, BTreeMap<String, String>>,
    /// The Secret that it refers to.
    pub secret: Option<String>,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ThingStatus {
    pub external_id: Option<String>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// The argument of a controller on this cluster.
pub trait Operates {
    /// An operator named `operator` that leads.
    fn manager(&self) -> Manager;
}

impl Operates for Cluster {
    fn manager(&self) -> Manager {
        Manager::new(Identity { name: "operator", version: "0.0.0" }, self.client())
    }
}

/// A controller that runs until the test ends it.
pub struct Running(Manager, JoinHandle<operator_rs_runtime::Result<()>>);

impl Running {
    pub fn start<F>(manager: &Manager, controller: F) -> Self
    where
        F: Future<Output = operator_rs_runtime::Result<()>> + Send + 'static,
    {
        Self(manager.clone(), tokio::spawn(controller))
    }

    pub async fn stop(self) {
        self.0.stop.cancel();
        self.1.await.unwrap().unwrap();
    }
}

pub async fn nothing(_: Arc<Thing>, _: Arc<()>) -> Result<Action, Error> {
    Ok(Action::await_change())
}

/// Counts reconciles, and does nothing else.
pub async fn count(_: Arc<Thing>, count: Arc<AtomicUsize>) -> Result<Action, Error> {
    count.fetch_add(1, SeqCst);
    Ok(Action::await_change())
}

/// The desired ConfigMaps by name: keys with values.
pub fn thing(name: &str, configs: &[(&str, &[&str])]) -> Value {
    let data = |keys: &[&str]| keys.iter().map(|it| (it.to_string(), "1".to_owned())).collect::<BTreeMap<_, _>>();
    let configs: BTreeMap<_, _> = configs.iter().map(|(name, keys)| (name.to_string(), data(keys))).collect();
    json!({
        "apiVersion": "test.dev/v1", "kind": "Thing",
        "metadata": { "name": name, "namespace": "n", "uid": format!("uid-{name}") },
        "spec": { "configs": configs },
    })
}

pub fn labels() -> Labels {
    Labels::from([("app".into(), "thing".into())])
}

/// The ConfigMap that a Thing wants.
pub fn config(thing: &Thing, name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.into()),
            namespace: thing.namespace(),
            labels: Some(labels()),
            owner_references: Some(vec![thing.controller_owner_ref(&()).unwrap()]),
            ..ObjectMeta::default()
        },
        data: thing.spec.configs.get(name).cloned(),
        ..ConfigMap::default()
    }
}

/// Waits until something is as it should be.
pub async fn until(what: &str, is: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < limit, "not {what} after 20 s");
        sleep(Duration::from_millis(10)).await;
    }
}

/// Time for what should not happen.
pub async fn quiet() {
    sleep(Duration::from_millis(500)).await;
}

pub fn data(cluster: &Cluster, name: &str) -> Option<Value> {
    Some(cluster.get_json("configmaps", "n", name)?["data"].take())
}

pub fn condition(cluster: &Cluster, name: &str, type_: &str) -> Option<Value> {
    condition_of(cluster, "things.test.dev", name, type_)
}

/// A condition of an object of any kind.
pub fn condition_of(cluster: &Cluster, resource: &str, name: &str, type_: &str) -> Option<Value> {
    let conditions = cluster.get_json(resource, "n", name)?["status"]["conditions"].take();
    conditions.as_array()?.iter().find(|it| it["type"] == type_).cloned()
}

pub fn parsed(value: Value) -> Thing {
    serde_json::from_value(value).unwrap()
}

/// A cache of ConfigMaps that is filled, and nobody else writes to.
pub async fn configs_of(cluster: &Cluster) -> (Running, Owned<ConfigMap, Thing>) {
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.owns::<ConfigMap>(&labels());
    let running = Running::start(&manager, controller.run(nothing, Arc::new(())));
    sleep(Duration::from_millis(10)).await; // it begins
    until("filled", || manager.readiness.pending().is_empty()).await;
    (running, configs)
}

/// Makes the ConfigMap `x`.
pub async fn make(thing: Arc<Thing>, configs: Owned<ConfigMap, Thing>) -> Result<Action, Error> {
    configs.apply(&thing, &config(&thing, "x")).await?;
    Ok(Action::await_change())
}

/// A condition that others have set.
pub fn theirs(status: &str) -> Value {
    json!({ "type": "Theirs", "status": status, "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" })
}

/// How often the controllers of an operator have reconciled.
pub fn reconciled(manager: &Manager) -> u64 {
    let text = manager.metrics.encode();
    let lines = text.lines().filter(|it| it.starts_with("controller_runtime_reconcile_total{"));
    lines.filter_map(|it| it.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}
