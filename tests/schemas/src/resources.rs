//! What `#[kube(…)]` says beside the schema.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "resources.example.com",
    version = "v1",
    kind = "Everything",
    namespaced,
    status = "EverythingStatus",
    shortname = "ev",
    shortname = "evy",
    category = "all",
    category = "x",
    plural = "everythings",
    singular = "one",
    selectable = ".spec.a",
    selectable = ".spec.b",
    served = false,
    storage = true,
    deprecated = "use another",
    label("b", "2"),
    label("a", "1"),
    annotation("note", "text"),
    derive = "PartialEq",
    scale(
        spec_replicas_path = ".spec.n",
        status_replicas_path = ".status.n",
        label_selector_path = ".status.s"
    ),
    printcolumn(
        name = "A",
        type_ = "integer",
        json_path = ".spec.a",
        description = "An a",
        format = "int32",
        priority = 1
    ),
    printcolumn = r#"{"name":"B", "type":"date", "jsonPath":".metadata.creationTimestamp"}"#
)]
#[derive(PartialEq)]
pub struct EverythingSpec {
    pub a: i32,
    pub b: i32,
}

#[derive(PartialEq, JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct EverythingStatus {
    pub n: i32,
    pub s: String,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "resources.example.com", version = "v1", kind = "ScaleJson", status = EverythingStatus, deprecated, scale = r#"{"specReplicasPath":".spec.n", "statusReplicasPath":".status.n"}"#)]
pub struct ScaleJsonSpec {
    pub n: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "resources.example.com",
    version = "v1",
    kind = "ScaleLost",
    scale(spec_replicas_path = ".spec.n", status_replicas_path = ".status.n")
)]
pub struct ScaleLostSpec {
    pub n: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "resources.example.com",
    version = "v1",
    kind = "Unschemed",
    schema = "disabled",
    namespaced
)]
pub struct UnschemedSpec {
    pub n: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "resources.example.com", version = "v1", kind = "Proxy")]
pub struct ProxySpec {
    pub n: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "resources.example.com",
    version = "v1",
    kind = "Mesh",
    namespaced = true,
    storage = "true"
)]
pub struct MeshSpec {
    pub n: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "resources.example.com",
    version = "v1",
    kind = "Rooted",
    root = "RootedRoot",
    printcolumn(name = "N", type_ = "string", json_path = ".x", priority = "2")
)]
pub struct RootedSpec {
    pub n: i32,
    pub other: Option<Box<crate::resources::ProxySpec>>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "resources.example.com",
    version = "v1",
    kind = "Sprawled",
    no_spec,
    status = "EverythingStatus"
)]
pub struct SprawledSpec {
    /// Top.
    pub n: i32,
    pub list: Vec<String>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "resources.example.com",
    version = "v1",
    kind = "Attributed",
    attr = "allow(unused)",
    crates(kube_core = "::kube::core")
)]
pub struct AttributedSpec {
    pub n: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "resources.example.com", version = "v1", kind = "Split", namespaced)]
#[kube(shortname = "sp")]
#[serde(rename_all = "camelCase")]
pub struct SplitSpec {
    pub some_n: i32,
}
