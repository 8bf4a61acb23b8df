//! Secrets of a controller: nobody can guess their values from what it writes elsewhere.

mod kinds;

use k8s_openapi::{ByteString, api::core::v1::Secret};
use kinds::{Operates as _, Thing, labels, quiet, thing, until};
use kube::api::PartialObjectMeta;
use operator_rs_runtime::{Action, Controller, Error, Owned};
use operator_rs_testing::Cluster;
use serde_json::{Value, json};
use std::sync::Arc;

/// A Secret with the value that the Thing names.
fn secret(thing: &Thing) -> Secret {
    let value = ByteString(thing.spec.secret.clone().unwrap_or_default().into_bytes());
    let mut res: Secret = serde_json::from_value(json!({ "metadata": { "name": "s" } })).unwrap();
    res.data = Some([("pin".to_owned(), value)].into());
    res
}

/// Runs until nothing happens, with a cache of `C`s, and returns how many writes of Secrets there were.
async fn run<C>(cluster: &Cluster) -> usize
where
    C: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
    C: serde::de::DeserializeOwned + Clone + std::fmt::Debug + Send + Sync + 'static,
    Secret: operator_rs_runtime::Desired<C>,
{
    cluster.clear_request_log();
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let secrets = controller.owns::<C>(&labels());
    let reconcile = |thing: Arc<Thing>, secrets: Owned<C, Thing>| async move {
        secrets.apply(&thing, &secret(&thing)).await?;
        Ok::<_, Error>(Action::await_change())
    };
    let task = tokio::spawn(controller.run(reconcile, secrets));
    until("reconciled", || kinds::reconciled(&manager) > 0).await;
    quiet().await;
    manager.stop.cancel();
    task.await.unwrap().unwrap();
    cluster.count_writes("PATCH secrets")
}

fn cluster() -> Cluster {
    Cluster::default().with_json("things.test.dev", &[with_value("0000")])
}

fn with_value(value: &str) -> Value {
    let mut thing = thing("a", &[]);
    thing["spec"]["secret"] = value.into();
    thing
}

fn hash(cluster: &Cluster) -> Value {
    cluster.get_json("secrets", "n", "s").unwrap()["metadata"]["annotations"]["runtime.operator-rs.io/desired-hash"]
        .take()
}

#[tokio::test]
async fn the_hash_of_a_secret_says_nothing_of_its_values() {
    let (one, other) = (cluster(), cluster());
    other.edit_json("things.test.dev", "n", "a", |it| it["spec"] = with_value("1234")["spec"].take());
    assert_eq!((run::<Secret>(&one).await, run::<Secret>(&other).await), (1, 1));
    assert_eq!(hash(&one), hash(&other));
}

#[tokio::test]
async fn a_new_value_is_written_and_a_restart_is_not() {
    let cluster = cluster();
    assert_eq!(run::<Secret>(&cluster).await, 1);
    assert_eq!(run::<Secret>(&cluster).await, 0, "a restart");
    cluster.edit_json("things.test.dev", "n", "a", |it| it["spec"] = with_value("1234")["spec"].take());
    assert_eq!(run::<Secret>(&cluster).await, 1);
    assert_eq!(cluster.get_json("secrets", "n", "s").unwrap()["data"]["pin"], "MTIzNA==");
    // Another process of this operator, or a write whose answer was lost.
    let managed = cluster.get_json("secrets", "n", "s").unwrap()["metadata"]["managedFields"].take();
    cluster.edit_json("secrets", "n", "s", |it| it["data"]["pin"] = "AAAA".into());
    cluster.edit_json("secrets", "n", "s", |it| it["metadata"]["managedFields"] = managed);
    assert_eq!(run::<Secret>(&cluster).await, 1);
    assert_eq!(cluster.get_json("secrets", "n", "s").unwrap()["data"]["pin"], "MTIzNA==");
}

#[tokio::test]
async fn a_cache_of_metadata_writes_the_values_once_a_process() {
    let cluster = cluster();
    assert_eq!(run::<PartialObjectMeta<Secret>>(&cluster).await, 1);
    assert_eq!(run::<PartialObjectMeta<Secret>>(&cluster).await, 1);
    cluster.edit_json("things.test.dev", "n", "a", |it| it["spec"] = with_value("1234")["spec"].take());
    assert_eq!(run::<PartialObjectMeta<Secret>>(&cluster).await, 1);
    assert_eq!(cluster.get_json("secrets", "n", "s").unwrap()["data"]["pin"], "MTIzNA==");
}
