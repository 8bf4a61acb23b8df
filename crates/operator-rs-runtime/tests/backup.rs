//! The example `backup`: what it makes, what it waits for, and what it leaves.

#[path = "../examples/backup/api.rs"]
mod api;
#[path = "../examples/backup/controller.rs"]
mod controller;
mod kinds;

use kinds::{Operates as _, quiet, until};
use operator_rs_runtime::{Identity, Manager};
use operator_rs_testing::{Cluster, faults};
use serde_json::{Value, json};
use std::{env, fs, path::PathBuf};

const BACKUPS: &str = "backups.backup.example.com";
const JOBS: &str = "cronjobs.batch";
const KINDS: [&str; 5] = [
    "configmaps",
    "serviceaccounts",
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    JOBS,
];

fn cluster() -> Cluster {
    let backup = json!({
        "apiVersion": "backup.example.com/v1alpha1", "kind": "Backup",
        "metadata": { "name": "shop", "namespace": "n", "uid": "uid-shop", "generation": 1 },
        "spec": { "schedule": "0 3 * * *", "secret": "database", "script": "pg_dump \"$DATABASE\"" },
    });
    Cluster::default().with_json(BACKUPS, &[backup])
}

fn secret() -> Value {
    json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "database", "namespace": "n" } })
}

/// A directory with a snapshot of the Backup.
fn snapshots(name: &str) -> PathBuf {
    let res = env::temp_dir().join(format!("operator-rs-backup-{}-{name}", std::process::id()));
    fs::create_dir_all(res.join("uid-shop")).unwrap();
    fs::write(res.join("uid-shop/1.sql"), "").unwrap();
    res
}

fn available(cluster: &Cluster) -> Value {
    kinds::condition_of(cluster, BACKUPS, "shop", "Available").unwrap_or_default()
}

#[tokio::test]
async fn everything_of_a_backup_exists_is_put_back_and_goes_with_it() {
    let (cluster, snapshots) = (cluster(), snapshots("whole"));
    let manager = cluster.manager();
    let running = tokio::spawn(controller::run(manager.clone(), snapshots.clone()));
    until("told", || available(&cluster)["reason"] == "SecretMissing").await;
    assert_eq!(cluster.get_json(JOBS, "n", "shop").unwrap()["spec"]["suspend"], true);
    cluster.put_json("secrets", secret()).unwrap();
    until("available", || available(&cluster)["status"] == "True").await;
    for kind in KINDS {
        let object = cluster.get_json(kind, "n", "shop").unwrap_or_else(|| panic!("no {kind}"));
        assert_eq!(object["metadata"]["ownerReferences"][0]["uid"], "uid-shop", "{kind}");
    }
    let job = || cluster.get_json(JOBS, "n", "shop").unwrap()["spec"].take();
    assert_eq!(job()["suspend"], false);
    cluster.edit_json(JOBS, "n", "shop", |it| it["spec"]["schedule"] = json!("* * * * *"));
    until("put back", || job()["schedule"] == "0 3 * * *").await;
    cluster.edit_json(JOBS, "n", "shop", |it| it["status"] = json!({ "lastSuccessfulTime": "2026-01-01T03:00:00Z" }));
    let last = || cluster.get_json(BACKUPS, "n", "shop").unwrap()["status"]["lastSnapshot"].take();
    until("told", || last() == "2026-01-01T03:00:00Z").await;
    cluster.delete_json("secrets", "n", "database");
    until("suspended", || job()["suspend"] == true).await;

    cluster.delete_json(BACKUPS, "n", "shop");
    until("gone", || cluster.get_json(BACKUPS, "n", "shop").is_none()).await;
    until("collected", || KINDS.iter().all(|it| cluster.list_json(it).is_empty())).await;
    assert!(!snapshots.join("uid-shop").exists());
    quiet().await;
    manager.stop.cancel();
    running.await.unwrap().unwrap();
    fs::remove_dir_all(snapshots).unwrap();
}

#[tokio::test]
async fn snapshots_that_cannot_be_deleted_keep_the_backup_and_are_told() {
    let (cluster, snapshots) = (cluster(), snapshots("stuck"));
    fs::remove_dir_all(snapshots.join("uid-shop")).unwrap();
    // No directory.
    fs::write(snapshots.join("uid-shop"), "").unwrap();
    let manager = cluster.manager();
    let running = tokio::spawn(controller::run(manager.clone(), snapshots.clone()));
    until("made", || cluster.get_json(JOBS, "n", "shop").is_some()).await;
    cluster.delete_json(BACKUPS, "n", "shop");
    let degraded = || kinds::condition_of(&cluster, BACKUPS, "shop", "Degraded").unwrap_or_default();
    until("told", || degraded()["reason"] == "SnapshotsLeft").await;
    fs::remove_file(snapshots.join("uid-shop")).unwrap();
    until("gone", || cluster.get_json(BACKUPS, "n", "shop").is_none()).await;
    manager.stop.cancel();
    running.await.unwrap().unwrap();
    fs::remove_dir_all(snapshots).unwrap();
}

#[tokio::test]
async fn the_outcome_is_the_same_whatever_goes_wrong() {
    let snapshots = snapshots("faults");
    let run = |client, stop| {
        let identity = Identity { name: "operator", version: "0.0.0" };
        let mut manager = Manager::new(identity, client);
        manager.stop = stop;
        controller::run(manager, snapshots.clone())
    };
    faults::check(|| cluster().with_json("secrets", &[secret()]), run).await;
    fs::remove_dir_all(&snapshots).unwrap();
}
