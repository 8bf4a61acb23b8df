//! What holds other types.

use std::collections::{BTreeMap, BTreeSet, HashMap as Table, HashSet, VecDeque};
use std::sync::Arc;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Lists")]
pub struct ListsSpec {
    pub a: Vec<String>,
    pub b: Option<Vec<i32>>,
    pub c: Vec<Option<String>>,
    pub d: Vec<Vec<u8>>,
    pub e: VecDeque<bool>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Sets")]
pub struct SetsSpec {
    pub a: BTreeSet<String>,
    pub b: Option<HashSet<u16>>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Maps")]
pub struct MapsSpec {
    pub a: BTreeMap<String, String>,
    pub b: Option<Table<String, i32>>,
    pub c: BTreeMap<String, BTreeMap<String, Vec<bool>>>,
    pub d: BTreeMap<u32, String>,
    pub e: BTreeMap<i32, Inner>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner {
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Keys")]
pub struct KeysSpec {
    pub a: BTreeMap<Color, String>,
    pub b: BTreeMap<Documented, String>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Color {
    Red,
    Green,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Documented {
    /// One.
    One,
    /// Two.
    Two,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Boxes")]
pub struct BoxesSpec {
    pub a: Box<String>,
    pub b: Arc<str>,
    pub c: Option<Box<Deep>>,
    pub d: Box<Option<i32>>,
    pub e: std::borrow::Cow<'static, str>,
    pub f: Box<[String]>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Deep {
    pub a: Box<Deeper>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Deeper {
    pub name: String,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Arrays")]
pub struct ArraysSpec {
    pub a: [i32; 3],
    pub b: Option<[String; 2]>,
    pub c: [[u8; 4]; 2],
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Tuples")]
pub struct TuplesSpec {
    pub a: (i32, String),
    pub b: Vec<(String, Option<bool>)>,
    pub c: (),
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Anything")]
pub struct AnythingSpec {
    pub a: serde_json::Value,
    pub b: Option<serde_json::Value>,
    pub c: serde_json::Map<String, serde_json::Value>,
    pub d: Vec<serde_json::Value>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "containers.example.com", version = "v1", kind = "Outcomes")]
pub struct OutcomesSpec {
    pub a: Result<i32, String>,
}
