use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "versions.example.com",
    version = "v1",
    kind = "Cache",
    namespaced,
    shortname = "ca",
    storage = false
)]
pub struct CacheSpec {
    pub size: i64,
    pub new: Option<String>,
}
