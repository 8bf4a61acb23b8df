//! In the order of the keys, with the last of two equal ones, and of structs.

use std::collections::BTreeMap;

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "texts")]
    pub texts: BTreeMap<String, String>,
    #[serde(default = "numbers")]
    pub numbers: Option<BTreeMap<String, u8>>,
    #[serde(default = "structs")]
    pub structs: BTreeMap<String, Point>,
    #[serde(default = "none", skip_serializing_if = "BTreeMap::is_empty")]
    pub none: BTreeMap<String, u8>,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    #[serde(rename = "X")]
    pub x: i32,
}

fn texts() -> BTreeMap<String, String> {
    BTreeMap::from([("b".to_owned(), "1".to_owned()), ("a".into(), String::from("2"))])
}

fn numbers() -> Option<BTreeMap<String, u8>> {
    Some(BTreeMap::from([("a".to_owned(), 1), ("a".to_owned(), 2)]))
}

fn structs() -> BTreeMap<String, Point> {
    BTreeMap::from([("a".to_owned(), Point { x: 1 })])
}

fn none() -> BTreeMap<String, u8> {
    BTreeMap::from([])
}
