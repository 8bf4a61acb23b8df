//! What code takes from outside of itself: files, and what cargo says of the package.

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "outside.example.com", version = "v1", kind = "Outside")]
#[doc = include_str!("outside/spec.md")]
pub struct OutsideSpec {
    /// Before.
    #[doc = include_str!("outside/field.md")]
    /// After.
    #[serde(default = "image")]
    pub image: String,
    #[schemars(description = include_str!("outside/field.md"))]
    #[serde(default = "template")]
    pub template: String,
    #[doc = concat!("Of ", env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"))]
    #[serde(default = "parts")]
    pub parts: Vec<String>,
    #[schemars(schema_with = "by_hand")]
    pub by_hand: String,
    #[schemars(extend("x-version" = env!("CARGO_PKG_VERSION")))]
    pub extended: String,
}

const IMAGE: &str = concat!("example.com/", env!("CARGO_PKG_NAME"), ":", env!("CARGO_PKG_VERSION"));
const TEMPLATE: &str = include_str!("../src/outside/template.yaml");

fn image() -> String {
    IMAGE.to_owned()
}

fn template() -> String {
    TEMPLATE.into()
}

fn parts() -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION", "it has none");
    vec![
        format!("v{version}"),
        env!("CARGO_PKG_VERSION_MAJOR").to_string(),
        env!("CARGO_PKG_VERSION_MINOR").to_string(),
        std::env!("CARGO_PKG_VERSION_PATCH").to_string(),
        env!("CARGO_PKG_VERSION_PRE").to_string(),
        env!("CARGO_CRATE_NAME").to_string(),
        include_str!("outside/template.yaml").lines().next().unwrap_or_default().to_string(),
    ]
}

fn by_hand(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        "description": include_str!("outside/field.md"),
        "default": env!("CARGO_PKG_VERSION"),
    })
}
