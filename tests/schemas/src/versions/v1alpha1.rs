use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "versions.example.com",
    version = "v1alpha1",
    kind = "Cache",
    namespaced,
    shortname = "ca",
    storage = false
)]
pub struct CacheSpec {
    pub size: i32,
    pub old: Option<String>,
}
