//! The type of `Website`: its spec and its status.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as metav1;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// Desired state of Website.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "web.example.com",
    version = "v1alpha1",
    kind = "Website",
    plural = "websites",
    namespaced,
    status = "WebsiteStatus",
    derive = "PartialEq",
    doc = "Website serves pages under some domains.",
    printcolumn(name = "Domains", type_ = "string", json_path = ".spec.domains"),
    printcolumn(
        name = "Available",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Available\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct WebsiteSpec {
    /// Domains under which the website is served.
    #[schemars(
        length(min = 1, max = 20),
        inner(length(max = 253), regex(pattern = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"))
    )]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub domains: Vec<String>,

    /// Number of pods.
    #[serde(default = "default_replicas")]
    #[schemars(range(min = 0, max = 10))]
    pub replicas: i32,

    /// Name of the Secret with the certificate, in the same namespace. Without it, there is no HTTPS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

fn default_replicas() -> i32 {
    1
}

/// Observed state of Website.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct WebsiteStatus {
    /// Generation of the spec that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// Conditions: `Available`, `Progressing` and `Degraded`.
    #[serde(default)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<metav1::Condition>,
}
