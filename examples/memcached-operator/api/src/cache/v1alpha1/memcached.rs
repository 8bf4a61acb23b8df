//! `Memcached`: what users ask for, and what they are told.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as metav1;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// What is asked for.
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
    /// The number of pods.
    #[serde(default = "default_size")]
    #[schemars(range(min = 0, max = 5))]
    pub size: i32,

    /// The port that the container listens on.
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

/// What is there.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedStatus {
    /// The generation that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// The number of pods that are ready.
    #[serde(default)]
    pub ready_replicas: i32,

    /// Selects the pods; `kubectl scale` and autoscalers read it.
    #[serde(default)]
    pub selector: String,

    /// The names of the pods.
    #[serde(default)]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub nodes: Vec<String>,

    /// `Available`, `Progressing` and `Degraded`.
    #[serde(default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<metav1::Condition>,
}
