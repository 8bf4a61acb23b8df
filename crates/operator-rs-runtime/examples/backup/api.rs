//! The kind `Backup`.

use k8s_openapi::{apimachinery::pkg::apis::meta::v1::Condition, apimachinery::pkg::apis::meta::v1::Time};
use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// Backs up a database on a schedule.
#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "backup.example.com", version = "v1alpha1", kind = "Backup", namespaced, status = "BackupStatus")]
#[kube(schema = "disabled")] // a project of operator-rs derives it
#[serde(rename_all = "camelCase")]
pub struct BackupSpec {
    /// When, in the format of cron.
    pub schedule: String,
    /// Name of the Secret with the address of the database, in the key `url`.
    pub secret: String,
    /// Commands of the shell that write the snapshot.
    pub script: String,
}

/// The observed state of a Backup.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct BackupStatus {
    /// The generation that this status is about.
    pub observed_generation: Option<i64>,
    /// The time at which the last snapshot was complete.
    pub last_snapshot: Option<Time>,
    /// `Available` is true while snapshots are made.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}
