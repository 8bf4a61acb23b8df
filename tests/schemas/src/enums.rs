//! Enums in each representation.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "enums.example.com", version = "v1", kind = "External")]
pub struct ExternalSpec {
    pub a: Data,
    /// Field.
    pub b: Option<Data>,
    pub c: Vec<Data>,
}

/// Type.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub enum Data {
    /// A struct.
    Struct {
        some_field: i32,
        #[serde(default)]
        other: Option<String>,
    },
    Newtype(ExternalInner),
    /// A number.
    Number(i32),
    Text(String),
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct ExternalInner {
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "enums.example.com", version = "v1", kind = "Untagged")]
pub struct UntaggedSpec {
    pub a: Either,
    pub b: Option<Either>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Either {
    One { first: i32 },
    Two { second: String },
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "enums.example.com", version = "v1", kind = "UntaggedPlain")]
pub struct UntaggedPlainSpec {
    pub a: NumberOrText,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum NumberOrText {
    Number(i32),
    Text(String),
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "enums.example.com", version = "v1", kind = "InternalOne")]
pub struct InternalOneSpec {
    pub a: InternalOneTagged,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(tag = "type")]
pub enum InternalOneTagged {
    Only { x: i32 },
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "enums.example.com", version = "v1", kind = "AdjacentOne")]
pub struct AdjacentOneSpec {
    pub a: AdjacentOneTagged,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(tag = "type", content = "value")]
pub enum AdjacentOneTagged {
    /// The only one.
    Only { x: i32 },
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "enums.example.com", version = "v1", kind = "EnumSpec")]
#[serde(rename_all = "camelCase")]
pub enum EnumSpecSpec {
    /// First.
    First {
        a: i32,
    },
    Second(EnumSpecInner),
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct EnumSpecInner {
    pub b: String,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "enums.example.com", version = "v1", kind = "Empty")]
pub struct EmptySpec {
    pub a: Nothing,
    pub b: Unit,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Nothing {}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Unit;

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "enums.example.com", version = "v1", kind = "VariantTypes")]
pub struct VariantTypesSpec {
    pub a: With,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum With {
    #[schemars(with = "String")]
    Other(u8),
    #[serde(skip)]
    Gone(u16),
    Tuple(i32, String),
}
