//! Defaults, as serde writes them.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "defaults.example.com", version = "v1", kind = "Bare")]
pub struct BareSpec {
    #[serde(default)]
    pub a: i32,
    #[serde(default)]
    pub b: String,
    #[serde(default)]
    pub c: bool,
    #[serde(default)]
    pub d: Vec<String>,
    #[serde(default)]
    pub e: BTreeMap<String, i32>,
    #[serde(default)]
    pub f: Option<i32>,
    #[serde(default)]
    pub g: f32,
    #[serde(default)]
    pub h: f64,
    #[serde(default)]
    pub i: u8,
    #[serde(default)]
    pub j: Box<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub l: Vec<i32>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub m: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub n: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub o: BTreeMap<String, String>,
    #[serde(default, skip_serializing)]
    pub p: i32,
    #[serde(default)]
    pub q: char,
    #[serde(default)]
    pub r: usize,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "defaults.example.com", version = "v1", kind = "Functions")]
pub struct FunctionsSpec {
    #[serde(default = "size")]
    pub a: i32,
    #[serde(default = "image")]
    pub b: String,
    #[serde(default = "yes")]
    pub c: bool,
    #[serde(default = "ratio")]
    pub d: f64,
    #[serde(default = "small_ratio")]
    pub e: f32,
    #[serde(default = "list")]
    pub f: Vec<String>,
    #[serde(default = "some")]
    pub g: Option<i64>,
    #[serde(default = "none")]
    pub h: Option<i64>,
    #[serde(default = "constant")]
    pub i: u16,
    #[serde(default = "into")]
    pub j: String,
    #[serde(default = "to_string")]
    pub k: String,
    #[serde(default = "of")]
    pub l: String,
    #[serde(default = "mode")]
    pub m: FunctionsMode,
    #[serde(default = "inner")]
    pub n: FunctionsInner,
    #[serde(default = "negative")]
    pub o: i8,
    #[serde(default = "product")]
    pub p: u64,
    #[serde(default = "elsewhere::port")]
    pub q: u16,
    #[serde(default = "FunctionsInner::start")]
    pub r: i32,
    #[serde(default = "String::new")]
    pub t: String,
    #[serde(default = "Vec::<i32>::new")]
    pub u: Vec<i32>,
    #[serde(default = "i32::default")]
    pub v: i32,
    #[serde(default = "named")]
    pub w: String,
    #[serde(default = "numbers", skip_serializing_if = "Vec::is_empty")]
    pub x: Vec<f32>,
    #[serde(default = "maximum")]
    pub y: i32,
    #[serde(default = "chained")]
    pub z: Option<Vec<FunctionsMode>>,
}

fn size() -> i32 {
    3
}
fn image() -> String {
    "memcached:1.6".to_owned()
}
fn yes() -> bool {
    true
}
fn ratio() -> f64 {
    0.1
}
fn small_ratio() -> f32 {
    0.1
}
fn list() -> Vec<String> {
    vec!["a".to_string(), "b".into()]
}
fn some() -> Option<i64> {
    Some(-5)
}
fn none() -> Option<i64> {
    None
}
const PORT: u16 = 80;
fn constant() -> u16 {
    PORT
}
fn into() -> String {
    "into".into()
}
fn to_string() -> String {
    "to_string".to_string()
}
fn of() -> String {
    String::from("of")
}
fn mode() -> FunctionsMode {
    FunctionsMode::FastOne
}
fn inner() -> FunctionsInner {
    FunctionsInner {
        first: 1,
        second: Some("x".to_owned()),
        third: None,
        fourth: FunctionsMode::Slow,
    }
}
fn negative() -> i8 {
    -128
}
fn product() -> u64 {
    60 * 60 * (12 + 12)
}
mod elsewhere {
    pub fn port() -> u16 {
        super::PORT
    }
}
const NAME: &str = "named";
fn named() -> String {
    NAME.to_owned()
}
fn numbers() -> Vec<f32> {
    vec![0.5, 1.0]
}
fn maximum() -> i32 {
    2_147_483_647
}
fn chained() -> Option<Vec<FunctionsMode>> {
    Some(vec![FunctionsMode::Slow, mode()])
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub enum FunctionsMode {
    Slow,
    FastOne,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct FunctionsInner {
    pub first: i32,
    #[serde(rename(serialize = "zwei", deserialize = "two"))]
    pub second: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub third: Option<String>,
    pub fourth: FunctionsMode,
}

impl FunctionsInner {
    fn start() -> i32 {
        7
    }
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "defaults.example.com", version = "v1", kind = "Derived")]
pub struct DerivedSpec {
    #[serde(default)]
    pub a: DerivedInner,
    #[serde(default)]
    pub b: DerivedMode,
    #[serde(default)]
    pub c: Vec<DerivedInner>,
    #[serde(default)]
    pub d: Wrapped,
    #[serde(default = "DerivedInner::default")]
    pub e: DerivedInner,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(rename_all = "camelCase")]
pub struct DerivedInner {
    pub some_number: i32,
    pub text: String,
    pub mode: DerivedMode,
    pub maybe: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<i32>,
    #[serde(skip)]
    pub skipped: i32,
    pub deep: Deep,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
pub struct Deep {
    pub x: f64,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
pub enum DerivedMode {
    Slow,
    #[default]
    #[serde(rename = "fast")]
    Fast,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
pub struct Wrapped(pub u16);

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "defaults.example.com", version = "v1", kind = "Whole")]
pub struct WholeSpec {
    pub a: WholeInner,
    pub b: Option<WholeInner>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct WholeInner {
    pub some_number: i32,
    pub text: String,
    #[serde(default = "three")]
    pub three: i32,
    pub list: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maybe: Option<i32>,
}

fn three() -> i32 {
    3
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "defaults.example.com", version = "v1", kind = "Foreign")]
pub struct ForeignSpec {
    #[serde(default)]
    pub a: k8s_openapi::api::core::v1::ResourceRequirements,
    #[serde(default)]
    pub b: k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector,
    #[serde(default)]
    pub c: k8s_openapi::apimachinery::pkg::util::intstr::IntOrString,
    #[serde(default)]
    pub d: k8s_openapi::apimachinery::pkg::api::resource::Quantity,
    #[serde(default)]
    pub e: serde_json::Value,
    #[serde(default)]
    pub f: k8s_openapi::api::core::v1::PodSpec,
}
