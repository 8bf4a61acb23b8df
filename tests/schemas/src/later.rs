//! Values whose type is said after them, and what serde writes where one value stands in another.

#![allow(clippy::all)]

use kube::{CustomResource, CustomResource as Resource, KubeSchema};
use schemars::JsonSchema;
use schemars::JsonSchema as Described;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub mod round {
    // Two modules that show each other's names.
    pub use super::*;
    pub const ROUND: u8 = 3;
}
pub use round::*;

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "later.example.com", version = "v1", kind = "Told")]
pub struct ToldSpec {
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "boxed")]
    pub boxed: Box<Option<Box<String>>>,
    #[serde(default = "pair")]
    pub pair: Pair<u8>,
    #[serde(default = "round")]
    pub round: u8,
    pub time: std::time::SystemTime,
    pub renamed: Renamed,
}
fn text() -> String {
    let it = "a".to_owned();
    it
}
fn boxed() -> Box<Option<Box<String>>> {
    let it = Box::new(Some(Box::new("b".to_owned())));
    it
}
fn round() -> u8 {
    ROUND
}
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Pair<T, U = String> {
    pub one: T,
    pub other: Option<U>,
    pub none: std::marker::PhantomData<U>,
}
fn pair() -> Pair<u8> {
    Pair { one: 1, other: None, none: Default::default() }
}
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Renamed(String);
impl Described for Renamed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Renamed".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "renamed" })
    }
}

/// What serde writes within another value, or refuses to: then there is no default.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "later.example.com", version = "v1", kind = "Within")]
#[kube(attr = "doc = \" And more\"", attr = "deprecated")]
pub struct WithinSpec {
    #[serde(default = "skipped")]
    pub skipped: Vec<Skipped>,
}
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Skipped {
    One,
    #[serde(skip_serializing)]
    Two,
}
fn skipped() -> Vec<Skipped> {
    vec![Skipped::One, Skipped::Two]
}

#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Parts {
    pub b: String,
    pub a: u8,
}

/// A rule on what is flattened goes to its first property.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "later.example.com", version = "v1", kind = "FlatRuled")]
pub struct FlatRuledSpec {
    #[serde(flatten)]
    #[x_kube(validation = "self < 5")]
    pub parts: Parts,
    #[serde(flatten)]
    #[x_kube(validation = "self < 6")]
    pub rest: BTreeMap<String, String>,
}

/// By another name than its own.
#[derive(Resource, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "later.example.com", version = "v1", kind = "ByHand", schema = "manual")]
pub struct ByHandSpec {
    pub a: u8,
}
impl Described for ByHand {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ByHand".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
    }
}
