//! Names, as serde makes them.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "names.example.com", version = "v1", kind = "Camel")]
#[serde(rename_all = "camelCase")]
pub struct CamelSpec {
    pub first_name: String,
    pub a_b_c: i32,
    #[serde(rename = "Other")]
    pub renamed: i32,
    #[serde(rename(serialize = "out", deserialize = "in"))]
    pub both: i32,
    #[serde(alias = "old")]
    pub new: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "names.example.com", version = "v1", kind = "Kebab")]
#[serde(rename_all = "kebab-case")]
pub struct KebabSpec {
    pub first_name: String,
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "names.example.com", version = "v1", kind = "Shouting")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", deny_unknown_fields)]
pub struct ShoutingSpec {
    pub first_name: String,
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "names.example.com", version = "v1", kind = "Pascal")]
#[serde(rename_all(serialize = "camelCase", deserialize = "PascalCase"))]
pub struct PascalSpec {
    pub first_name: String,
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "names.example.com", version = "v1", kind = "EnumNames")]
pub struct EnumNamesSpec {
    pub a: Lower,
    pub b: EnumNamesKebab,
    pub c: Snake,
    pub d: Fields,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Lower {
    RoundRobin,
    LeastConn,
    #[serde(rename = "IPHash")]
    IpHash,
    #[serde(skip)]
    Hidden,
    #[serde(alias = "old")]
    New,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum EnumNamesKebab {
    RoundRobin,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "snake_case")]
pub enum Snake {
    RoundRobin,
    #[serde(other)]
    Unknown,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Fields {
    FirstOne {
        some_field: i32,
    },
    #[serde(rename_all = "UPPERCASE")]
    SecondOne {
        other_field: i32,
    },
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "names.example.com", version = "v1", kind = "Skips")]
pub struct SkipsSpec {
    #[serde(skip)]
    pub a: i32,
    #[serde(skip_serializing)]
    pub b: i32,
    #[serde(skip_deserializing)]
    pub c: i32,
    #[schemars(skip)]
    pub d: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub f: Vec<String>,
    pub g: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "names.example.com", version = "v1", kind = "Overrides")]
#[serde(rename_all = "camelCase")]
#[schemars(rename_all = "snake_case")]
pub struct OverridesSpec {
    pub first_name: String,
    #[serde(rename = "a")]
    #[schemars(rename = "b")]
    pub c: i32,
    #[serde(default)]
    #[schemars(!default)]
    pub d: i32,
}
