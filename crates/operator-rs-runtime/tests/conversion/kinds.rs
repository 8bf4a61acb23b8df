//! Kinds with two versions.

use k8s_openapi::{
    api::core::v1::PodTemplateSpec,
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{LabelSelector, MicroTime, Time},
        util::intstr::IntOrString,
    },
};
use kube::{CustomResource, core::Duration};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, num::NonZeroU32};

/// All that a schema can have.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Body {
    pub size: u32,
    pub small: u8,
    pub signed_byte: i8,
    pub non_zero: NonZeroU32,
    #[schemars(range(min = 5, max = 9))]
    pub bounded: i32,
    pub ratio: f64,
    pub flag: bool,
    pub name: String,
    #[schemars(length(min = 3))]
    pub long_name: String,
    pub letter: char,
    pub maybe: Option<String>,
    #[serde(default)]
    pub list: Vec<String>,
    #[serde(default = "port")]
    pub port: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Nested>,
    pub nested: Nested,
    pub optional_nested: Option<Nested>,
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub items: Vec<Item>,
    pub source: Source,
    pub other_source: Option<Source>,
    pub level: Level,
    #[serde(rename = "either")]
    pub untagged: Untagged,
    #[serde(flatten)]
    pub flat: Flat,
    #[serde(flatten)]
    pub flat_choice: FlatChoice,
    pub map: BTreeMap<String, Nested>,
    pub newtype: Newtype,
    #[schemars(schema_with = "internal")]
    pub internal: Internal,
    #[schemars(schema_with = "adjacent")]
    pub adjacent: Adjacent,
    #[schemars(schema_with = "free")]
    pub free: serde_json::Value,
    pub times: Times,
    pub pods: Pods,
}

fn port() -> u16 {
    8080
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Nested {
    pub a: String,
    pub b: i32,
    pub deep: Deep,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Deep {
    pub x: bool,
    pub y: Option<i64>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Item {
    pub name: String,
    pub weight: i64,
    pub deep: Option<Deep>,
}

/// Externally tagged.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    File { path: String, depth: u32 },
    Url { url: String },
    Nested(Nested),
    Empty {},
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Level {
    Low,
    /// With a comment.
    High,
    VeryHigh,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Untagged {
    One { first: String, second: i32 },
    Two { third: bool, fourth: Deep },
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Flat {
    pub flat_one: String,
    pub flat_two: Option<i32>,
    pub flat_nested: Nested,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub enum FlatChoice {
    Left { l: i32 },
    Right { r: String },
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Newtype(pub String);

#[derive(Serialize, Deserialize, Clone, Debug)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Internal {
    Disk { path: String, size: i32 },
    Network { host: String },
}

/// `kube` cannot derive this one: the tags of the variants differ.
fn internal(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "type": { "type": "string", "enum": ["disk", "network"] },
            "path": { "type": "string" }, "size": { "type": "integer" }, "host": { "type": "string" },
        },
        "required": ["type"],
        "oneOf": [{ "required": ["path", "size"] }, { "required": ["host"] }],
    })
}

#[derive(Serialize, Deserialize, Clone, Debug)]
#[serde(tag = "kind", content = "value", rename_all = "camelCase")]
pub enum Adjacent {
    Some { a: i32, b: i32 },
    Other { b: i32 },
}

fn adjacent(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "kind": { "type": "string", "enum": ["some", "other"] },
            "value": {
                "type": "object", "required": ["b"],
                "properties": { "a": { "type": "integer", "format": "int32" }, "b": { "type": "integer", "format": "int32" } },
            },
        },
        "required": ["kind", "value"],
    })
}

fn free(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Times {
    pub time: Time,
    pub micro_time: MicroTime,
    pub quantity: Quantity,
    pub port: IntOrString,
    pub duration: Duration,
    pub maybe_duration: Option<Duration>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Pods {
    pub template: PodTemplateSpec,
    pub selector: LabelSelector,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct RichStatus {
    pub ready: bool,
    pub message: Option<String>,
}

/// Two versions that are the same but for their name.
macro_rules! rich {
    ($($module:ident $version:literal),*) => {$(
        pub mod $module {
            #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
            #[kube(group = "test.dev", version = $version, kind = "Rich", namespaced, status = "super::RichStatus")]
            #[kube(crates(kube_core = "kube::core"))]
            pub struct RichSpec {
                pub body: super::Body,
            }
        }
    )*};
}

rich!(v1 "v1", v1beta1 "v1beta1", v1alpha1 "v1alpha1");

macro_rules! same {
    ($($a:ident $b:ident),*) => {$(
        impl From<$a::Rich> for $b::Rich {
            fn from(it: $a::Rich) -> Self {
                Self { metadata: it.metadata, spec: $b::RichSpec { body: it.spec.body }, status: it.status }
            }
        }
    )*};
}

same!(v1 v1alpha1, v1alpha1 v1, v1 v1beta1, v1beta1 v1);

/// A type with a notation of its own.
#[derive(Clone, Debug, Serialize)]
pub struct Odd(String);

impl<'de> Deserialize<'de> for Odd {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix("odd-").and_then(|it| it.parse::<u32>().ok()) {
            Some(it) if it % 2 == 1 => Ok(Self(text)),
            _ => Err(serde::de::Error::custom(format!("{text:?} is not odd"))),
        }
    }
}

impl JsonSchema for Odd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Odd".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^odd-[0-9]*[13579]$" })
    }
}

/// Two versions that are the same, with a type that nothing can be made up for.
macro_rules! strange {
    ($($module:ident $version:literal),*) => {$(
        pub mod $module {
            #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
            #[kube(group = "test.dev", version = $version, kind = "Strange", namespaced)]
            pub struct StrangeSpec {
                pub size: u32,
                pub odd: super::Odd,
                #[schemars(schema_with = "super::free")]
                pub free: serde_json::Value,
            }
        }
    )*};
}

strange!(strange_v1 "v1", strange_v2 "v2");

impl From<strange_v1::Strange> for strange_v2::Strange {
    fn from(it: strange_v1::Strange) -> Self {
        let strange_v1::StrangeSpec { size, odd, free } = it.spec;
        Self { metadata: it.metadata, spec: strange_v2::StrangeSpec { size, odd, free } }
    }
}

impl From<strange_v2::Strange> for strange_v1::Strange {
    fn from(it: strange_v2::Strange) -> Self {
        let strange_v2::StrangeSpec { size, odd, free } = it.spec;
        Self { metadata: it.metadata, spec: strange_v1::StrangeSpec { size, odd, free } }
    }
}

pub mod old {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1alpha1", kind = "Cache", namespaced, status = "CacheStatus")]
    pub struct CacheSpec {
        pub size: i32,
        /// Of a host and a port.
        pub address: String,
        pub secure: Option<bool>,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct CacheStatus {
        pub ready: i32,
    }
}

pub mod new {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1", kind = "Cache", namespaced, status = "CacheStatus")]
    pub struct CacheSpec {
        pub replicas: i32,
        pub host: String,
        pub port: u16,
        pub tls: Option<Tls>,
        /// Not in the old version.
        #[serde(default)]
        pub zones: Vec<String>,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct CacheStatus {
        pub ready: i32,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Tls {
        pub secret: String,
    }
}

impl From<old::Cache> for new::Cache {
    fn from(it: old::Cache) -> Self {
        let old::CacheSpec { size, address, secure } = it.spec;
        assert!(size != 666, "nobody has 666");
        let (host, port) = address.rsplit_once(':').unwrap_or((&address, "0"));
        let spec = new::CacheSpec {
            replicas: size,
            host: host.to_owned(),
            port: port.parse().unwrap_or_default(),
            tls: secure.filter(|it| *it).map(|_| new::Tls { secret: "tls".to_owned() }),
            zones: vec![],
        };
        let status = it.status.map(|it| new::CacheStatus { ready: it.ready });
        Self { metadata: it.metadata, spec, status }
    }
}

impl From<new::Cache> for old::Cache {
    fn from(it: new::Cache) -> Self {
        let new::CacheSpec { replicas, host, port, tls, zones: _ } = it.spec;
        let spec = old::CacheSpec { size: replicas, address: format!("{host}:{port}"), secure: tls.map(|_| true) };
        let status = it.status.map(|it| old::CacheStatus { ready: it.ready });
        Self { metadata: it.metadata, spec, status }
    }
}
