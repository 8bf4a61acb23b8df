//! Attribute macros that are read, and attributes that belong to derives.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

#[skip_serializing_none]
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
pub struct Skipping {
    pub gone: Option<String>,
    pub also: std::option::Option<u8>,
    #[serialize_always]
    pub kept: Option<String>,
    #[serde(skip_serializing_if = "Option::is_some")]
    pub own: Option<String>,
    pub number: i32,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
pub struct Plain {
    pub kept: Option<String>,
    pub number: i32,
}

#[skip_serializing_none]
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "made.example.com", version = "v1", kind = "Attributes", plural = "attributes")]
pub struct AttributesSpec {
    #[serde(default)]
    pub skipping: Skipping,
    #[serde(default)]
    pub plain: Plain,
    pub option: Option<i32>,
}
