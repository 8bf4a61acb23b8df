//! CEL rules and merge strategies.

use kube::core::{ListMerge, MapMerge};
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "rules.example.com", version = "v1", kind = "Ruled")]
#[x_kube(validation = "self.a < self.b", validation = ("self.b > 0", "b is positive"))]
#[serde(rename_all = "camelCase")]
pub struct RuledSpec {
    #[x_kube(validation = "self > 0")]
    pub a: i32,
    #[x_kube(validation = ("self > 1", "more than one"))]
    pub b: i32,
    #[x_kube(validation = Rule::new("self != ''").message("not empty"))]
    pub some_text: String,
    #[x_kube(validation = Rule::new("self != 'a'").message(Message::Expression("'not ' + self".into())).reason(Reason::FieldValueForbidden).field_path(".x").optional_old_self(true))]
    pub d: Option<String>,
    #[x_kube(validation = "true", validation = Rule::new("self.size() < 3"))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    #[schemars(length(max = 3))]
    /// Documented.
    pub e: Vec<String>,
    #[x_kube(validation = Rule { rule: "self == oldSelf".into(), message: Some("immutable".into()), ..Default::default() })]
    #[serde(default)]
    pub f: i32,
    #[x_kube(validation = of_a_file(), validation = twice())]
    pub g: bool,
}

fn of_a_file() -> kube::core::Rule {
    kube::core::Rule::new(include_str!("rule.cel")).message("from a file").field_path(".g")
}

fn twice() -> kube::core::Rule {
    of_a_file()
}

#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "rules.example.com", version = "v1", kind = "Merged")]
pub struct MergedSpec {
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub a: Vec<String>,
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub b: Vec<String>,
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into(), "port".to_string()]))]
    pub c: Vec<Entry>,
    #[x_kube(merge_strategy = MapMerge::Atomic)]
    pub d: std::collections::BTreeMap<String, String>,
    #[x_kube(merge_strategy = MapMerge::Granular)]
    pub e: Entry,
    #[x_kube(merge_strategy = StructMerge::Atomic)]
    pub f: Entry,
    #[x_kube(merge_strategy = kube::core::ListMerge::Atomic)]
    pub g: Option<Vec<i32>>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Entry {
    pub name: String,
    pub port: i32,
}

#[allow(unused)]
type Both = (ListMerge, MapMerge);

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "rules.example.com", version = "v1", kind = "RootRuled", validation = "self.spec.a > 0", validation = Rule::new("has(self.status)").message("status"), status = "RootStatus")]
pub struct RootRuledSpec {
    pub a: i32,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct RootStatus {
    pub ready: bool,
}

#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "rules.example.com", version = "v1", kind = "RootCel", validation = ("self.metadata.name == 'a'", "one name"))]
pub struct RootCelSpec {
    pub a: i32,
}

#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "rules.example.com", version = "v1", kind = "Nested")]
pub struct NestedSpec {
    pub a: Inner,
    pub b: Option<Inner>,
    pub c: Vec<Inner>,
}

/// Inner.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[x_kube(validation = "self.x > 0")]
#[serde(rename_all = "camelCase")]
pub struct Inner {
    #[x_kube(validation = LIMIT)]
    pub x: i32,
    #[x_kube(validation = "self")]
    pub y_z: Option<bool>,
    #[deprecated]
    pub gone: Option<String>,
}

const LIMIT: &str = "self < 100";
