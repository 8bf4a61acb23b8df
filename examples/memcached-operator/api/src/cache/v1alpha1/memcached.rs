//! The type of `Memcached`: its spec and its status.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as metav1;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// Desired state of Memcached.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    plural = "memcacheds",
    namespaced,
    status = "MemcachedStatus",
    derive = "PartialEq",
    doc = "Memcached runs pods of one image.",
    scale(
        spec_replicas_path = ".spec.size",
        status_replicas_path = ".status.readyReplicas",
        label_selector_path = ".status.selector"
    ),
    printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"),
    printcolumn(name = "Ready", type_ = "integer", json_path = ".status.readyReplicas"),
    printcolumn(
        name = "Available",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Available\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {
    /// Number of pods.
    #[serde(default = "default_size")]
    #[schemars(range(min = 0, max = 5))]
    pub size: i32,

    /// Port that the container listens on.
    #[serde(default = "default_container_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub container_port: i32,
}

fn default_size() -> i32 {
    1
}

fn default_container_port() -> i32 {
    11211
}

/// Observed state of Memcached.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedStatus {
    /// Generation of the spec that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Number of pods that are ready.
    #[serde(default)]
    pub ready_replicas: i32,

    /// Label selector of the pods, for `kubectl scale` and autoscalers.
    #[serde(default)]
    pub selector: String,

    /// Names of the pods.
    #[serde(default)]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub nodes: Vec<String>,

    /// Conditions: `Available`, `Progressing` and `Degraded`.
    #[serde(default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<metav1::Condition>,
}
