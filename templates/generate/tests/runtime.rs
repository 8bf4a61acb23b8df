//! What the runtime promises every controller, shown with two kinds of its own.

mod support;

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::Condition};
use kube::{CustomResource, Resource, api::ObjectMeta};
use operator::{
    Error,
    runtime::{Action, Children, Controller, Env, Labels, Primary, conditions::Status},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};
use support::Cluster;

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "test.dev", version = "v1", kind = "Thing", namespaced, status = "TestStatus", schema = "disabled")]
struct ThingSpec {
    size: i32,
}

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "test.dev", version = "v1", kind = "Region", status = "TestStatus", schema = "disabled")]
struct RegionSpec {}

#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
struct TestStatus {
    conditions: Vec<Condition>,
}

impl Status for TestStatus {
    fn conditions(&self) -> &[Condition] {
        &self.conditions
    }
    fn conditions_mut(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

fn thing(name: &str) -> Thing {
    let mut thing = Thing::new(name, ThingSpec { size: 1 });
    let meta = thing.meta_mut();
    meta.namespace = Some("default".into());
    meta.resource_version = Some("10".into());
    thing
}

#[tokio::test]
async fn neither_an_undecodable_object_nor_a_panic_stops_the_others() {
    let mut bad = serde_json::to_value(thing("bad")).unwrap();
    bad["spec"]["size"] = json!("many");
    let cluster =
        Cluster::default().with("things.test.dev", &[bad]).with("things.test.dev", &[thing("boom"), thing("good")]);
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let log = seen.clone();
    cluster
        .run(3, |env| async move {
            let reconcile = |thing: Arc<Thing>, log: Arc<Mutex<BTreeSet<String>>>| async move {
                let name = thing.metadata.name.clone().unwrap();
                log.lock().unwrap().insert(name.clone());
                assert_ne!(name, "boom", "as intended");
                Ok::<_, Error>(Action::await_change())
            };
            Controller::new(&Env { concurrency: 1, ..env }).run(reconcile, log).await
        })
        .await;
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from(["boom".to_owned(), "good".to_owned()]));
    let reasons: BTreeSet<_> =
        cluster.writes().iter().filter_map(|it| it.body["reason"].as_str().map(str::to_owned)).collect();
    assert_eq!(reasons, BTreeSet::from(["Panic".to_owned(), "Undecodable".to_owned()]));
}

/// What `settle` works with.
struct Ctx {
    regions: Arc<Primary<Region>>,
    configs: Arc<Children<ConfigMap>>,
}

/// Gives a Region one ConfigMap in each of two namespaces.
async fn settle(region: Arc<Region>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    for namespace in ["a", "b"] {
        ctx.configs.apply_desired(&config(&region, namespace)).await?;
    }
    ctx.regions.set_status(&region, TestStatus::default()).await?;
    Ok(Action::await_change())
}

fn config(region: &Region, namespace: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: region.metadata.name.clone(),
            namespace: Some(namespace.into()),
            owner_references: Some(vec![region.controller_owner_ref(&()).unwrap()]),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

async fn regions(env: Env) -> anyhow::Result<()> {
    let mut controller = Controller::new(&env);
    let ctx = Ctx { regions: controller.primary(), configs: controller.owns(&Labels::new()) };
    controller.run(settle, Arc::new(ctx)).await
}

fn region() -> Region {
    let mut region = Region::new("north", RegionSpec {});
    region.meta_mut().uid = Some("1".into());
    region.meta_mut().resource_version = Some("10".into());
    region
}

#[tokio::test]
async fn a_cluster_scoped_object_owns_objects_in_any_namespace() {
    let cluster = Cluster::default().with("regions.test.dev", &[region()]);
    cluster.run(1, regions).await;
    let paths: Vec<_> = cluster.writes().into_iter().map(|it| it.path).collect();
    let expected = [
        "/api/v1/namespaces/a/configmaps/north",
        "/api/v1/namespaces/b/configmaps/north",
        "/apis/test.dev/v1/regions/north/status",
    ];
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn a_settled_cluster_scoped_object_costs_no_request() {
    let mut region = region();
    region.status = Some(TestStatus::default());
    let configs = ["a", "b"].map(|it| config(&region, it));
    let cluster = Cluster::default().with("configmaps", &configs).with("regions.test.dev", &[region]);
    assert_eq!(cluster.run(1, regions).await, [""; 0]);
}
