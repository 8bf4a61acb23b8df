//! Numbers, text, and what std brings.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "Integers")]
pub struct IntegersSpec {
    pub a: i8,
    pub b: i16,
    pub c: i32,
    pub d: i64,
    pub e: isize,
    pub f: u8,
    pub g: u16,
    pub h: u32,
    pub i: u64,
    pub j: usize,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "Floats")]
pub struct FloatsSpec {
    pub a: f32,
    pub b: f64,
    pub c: Option<f64>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "Texts")]
pub struct TextsSpec {
    pub a: String,
    pub b: char,
    pub c: bool,
    pub d: std::path::PathBuf,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "Times")]
pub struct TimesSpec {
    pub a: std::time::Duration,
    pub b: Option<core::time::Duration>,
    pub c: kube::core::Duration,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "Nets")]
pub struct NetsSpec {
    pub a: std::net::IpAddr,
    pub b: std::net::Ipv4Addr,
    pub c: std::net::SocketAddr,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "NonZeros")]
pub struct NonZerosSpec {
    pub a: std::num::NonZeroU16,
    pub b: Option<core::num::NonZeroU32>,
    pub c: std::num::NonZeroI64,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "Wide")]
pub struct WideSpec {
    pub a: i128,
    pub b: u128,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "Options")]
pub struct OptionsSpec {
    pub a: Option<i32>,
    pub b: Option<String>,
    pub c: Option<bool>,
    pub d: Option<Option<u8>>,
    pub e: std::option::Option<f32>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "scalars.example.com", version = "v1", kind = "RawWords")]
pub struct RawWordsSpec {
    pub r#type: String,
    pub r#match: Option<i32>,
}
