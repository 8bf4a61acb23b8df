//! The parts that are useful without a controller of this crate, as the examples use them.

#[path = "../examples/apply_owned.rs"]
#[allow(dead_code)]
mod apply_owned;
#[path = "../examples/fair_queue.rs"]
#[allow(dead_code)]
mod fair_queue;
#[path = "../examples/kube_controller.rs"]
#[allow(dead_code)]
mod kube_controller;

use k8s_openapi::api::{apps::v1::Deployment, coordination::v1::Lease, core::v1::ConfigMap};
use operator_rs_runtime::{CancellationToken, Error, apply_owned};
use operator_rs_testing::Cluster;
use serde_json::json;
use std::{cell::RefCell, net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};

fn config(name: &str) -> ConfigMap {
    let mut config = ConfigMap::default();
    (config.metadata.name, config.metadata.namespace) = (Some(name.into()), Some("default".into()));
    config
}

fn deployment(name: &str, uid: &str) -> Deployment {
    let mut deployment = Deployment::default();
    (deployment.metadata.name, deployment.metadata.namespace) = (Some(name.into()), Some("default".into()));
    deployment.metadata.uid = Some(uid.into());
    deployment
}

async fn free_address() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap()
}

/// The response to a GET request, once the server listens.
async fn get(address: SocketAddr, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    for _ in 0..500 {
        if let Ok(mut stream) = TcpStream::connect(address).await {
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut response = String::new();
            stream.read_to_string(&mut response).await.unwrap();
            return response;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("nothing listens on {address}");
}

async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(20), wait).await.unwrap_or_else(|_| panic!("{what}: not within 20 s"));
}

#[tokio::test]
async fn a_controller_of_kube_elects_a_leader_and_serves_probes_and_metrics() {
    let cluster = Cluster::default().with_object(&config("a"));
    let (stop, addresses) = (CancellationToken::new(), [free_address().await, free_address().await]);
    let task = tokio::spawn(kube_controller::run(cluster.client(), stop.clone(), addresses));
    wait_until("reconciled", async || {
        let metrics = get(addresses[1], "/metrics").await;
        let success = "controller_runtime_reconcile_total{controller=\"configmap\",result=\"success\"} 1";
        metrics.contains(success) && metrics.contains("leader_election_master_status{name=\"example\"} 1")
    })
    .await;
    assert!(get(addresses[0], "/healthz").await.starts_with("HTTP/1.1 200"));
    assert!(get(addresses[0], "/readyz").await.starts_with("HTTP/1.1 200"));
    let holder = || cluster.list::<Lease>()[0].spec.clone().unwrap().holder_identity.unwrap_or_default();
    assert_ne!(holder(), "");
    stop.cancel();
    task.await.unwrap().unwrap();
    assert_eq!(holder(), "", "the next replica need not wait");
}

#[tokio::test]
async fn a_controller_of_kube_applies_what_its_objects_own() {
    let cluster = Cluster::default().with_object(&deployment("a", "1"));
    let stop = CancellationToken::new();
    let task = tokio::spawn(apply_owned::run(cluster.client(), stop.clone()));
    let value = || cluster.get::<ConfigMap>("default", "a")?.data?.get("a").cloned();
    wait_until("created", async || value().as_deref() == Some("1")).await;
    let owners = cluster.get::<ConfigMap>("default", "a").unwrap().metadata.owner_references.unwrap();
    assert_eq!((owners[0].uid.as_str(), owners[0].controller), ("1", Some(true)));
    cluster
        .edit::<ConfigMap>("default", "a", |config| drop(config.data.as_mut().unwrap().insert("a".into(), "2".into())));
    wait_until("undone", async || value().as_deref() == Some("1")).await;
    stop.cancel();
    task.await.unwrap();
}

#[tokio::test]
async fn apply_owned_writes_only_differences_and_leaves_objects_of_others() {
    let cluster = Cluster::default().with_object(&config("other"));
    let (client, owner) = (cluster.client(), deployment("a", "1"));
    let mut desired = config("a");
    desired.data = Some([("a".into(), "1".into()), ("b".into(), "2".into())].into());
    apply_owned(&client, "example", &owner, &desired).await.unwrap();
    apply_owned(&client, "example", &owner, &desired).await.unwrap();
    assert_eq!(cluster.writes().len(), 1, "the second call has nothing to change");
    desired.data = Some([("a".into(), "1".into())].into());
    let applied = apply_owned(&client, "example", &owner, &desired).await.unwrap();
    assert_eq!(applied.data, desired.data, "what is no longer desired is removed");
    let error = apply_owned(&client, "example", &owner, &config("other")).await.unwrap_err();
    assert!(matches!(error, Error::NotOwned { .. }), "{error}");
    let error = apply_owned(&client, "example", &deployment("a", "2"), &desired).await.unwrap_err();
    assert!(matches!(error, Error::StaleOwner(_)), "{error}");
    assert_eq!(cluster.writes().len(), 2);
    assert_eq!(cluster.get_json("configmaps", "default", "other").unwrap()["metadata"]["ownerReferences"], json!(null));
}

#[tokio::test]
async fn a_queue_of_ones_own_reconciles_what_a_watch_shows() {
    let cluster = Cluster::default().with_objects([config("a"), config("b")]);
    let seen = RefCell::new(vec![]);
    let run = fair_queue::run(cluster.client(), async |key| seen.borrow_mut().push(key.to_owned()));
    let all = async || {
        let mut keys = seen.borrow().clone();
        keys.sort();
        keys == ["default/a", "default/b"]
    };
    tokio::select! {
        () = run => panic!("the watch has ended"),
        () = wait_until("reconciled", all) => {}
    }
}
