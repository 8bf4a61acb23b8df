//! What the versions of kube and schemars print differently from one another.

use std::collections::{BTreeMap, HashMap};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "differences.example.com", version = "v1", kind = "Optional")]
pub struct OptionalSpec {
    pub plain: Option<Level>,
    /// Said of the field.
    pub said: Option<Level>,
    pub told: Option<Told>,
    /// Said of the field.
    pub told_said: Option<Told>,
    pub data: Option<Data>,
    /// Said of the field.
    pub data_said: Option<Data>,
    pub untagged: Option<Either>,
    #[serde(default)]
    pub list: Vec<Option<Level>>,
    pub map: Option<BTreeMap<String, Option<Told>>>,
    pub structure: Option<Inner>,
}

/// How loud.
#[derive(
    JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
)]
pub enum Level {
    Debug,
    Info,
}

#[derive(
    JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
)]
pub enum Told {
    /// The first.
    First,
    /// The second.
    Second,
}

/// One of them.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub enum Data {
    /// A number.
    Number(i32),
    /// With fields.
    Fields {
        a: String,
        b: Option<i32>,
    },
    Nested(Inner),
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Either {
    /// The left.
    Left { left: String },
    /// The right.
    Right { right: i32 },
    /// Both.
    Both { up: String, down: i32 },
}

/// Inside.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner {
    pub x: i32,
    /// Why.
    pub y: Option<String>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "differences.example.com", version = "v1", kind = "Variants", plural = "variants")]
pub struct VariantsSpec {
    pub either: Either,
    pub scalar: Scalar,
    pub mixed: Mixed,
    pub closed: Closed,
    pub list: Vec<Either>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Scalar {
    /// A text.
    Text(String),
    /// A number.
    Number(i32),
    /// Texts.
    Texts(Vec<String>),
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Mixed {
    /// A text.
    Text(String),
    /// A struct.
    Inner(Inner),
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    pub a: i32,
    pub data: Data,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "differences.example.com", version = "v1", kind = "Flattened")]
pub struct FlattenedSpec {
    pub own: i32,
    #[serde(flatten)]
    pub data: Data,
    #[serde(flatten)]
    pub inner: Option<Inner>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "differences.example.com", version = "v1", kind = "FlattenedMaybe")]
pub struct FlattenedMaybeSpec {
    pub own: i32,
    #[serde(flatten)]
    pub data: Option<Data>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "differences.example.com", version = "v1", kind = "FlattenedUntagged")]
pub struct FlattenedUntaggedSpec {
    pub own: i32,
    #[serde(flatten)]
    pub either: Either,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "differences.example.com", version = "v1", kind = "FlattenedUnits")]
pub struct FlattenedUnitsSpec {
    pub own: i32,
    #[serde(flatten)]
    pub units: Units,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Units {
    One,
    Two(String),
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "differences.example.com", version = "v1", kind = "Keyed")]
pub struct KeyedSpec {
    pub plain: BTreeMap<Level, String>,
    pub hashed: HashMap<Level, Inner>,
    pub told: BTreeMap<Told, String>,
    pub numbers: BTreeMap<u16, String>,
    pub signed: BTreeMap<i8, Inner>,
    pub flags: BTreeMap<bool, i32>,
    pub texts: BTreeMap<String, BTreeMap<Level, i32>>,
    pub maybe: Option<BTreeMap<Level, i32>>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "differences.example.com", version = "v1", kind = "Extended")]
pub struct ExtendedSpec {
    #[schemars(extend("minimum" = 7, "maximum" = 9), range(min = 1))]
    pub a: i32,
    #[schemars(extend("default" = 3))]
    #[serde(default)]
    pub b: i32,
    #[schemars(extend("type" = "string"), length(max = 4))]
    pub c: serde_json::Value,
    pub newtype: Newtype,
    pub choice: Choice,
    /// Said.
    #[schemars(extend("description" = "extended"))]
    pub d: String,
}

/// The container.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Newtype(#[schemars(extend("description" = "the field", "maxLength" = 3))] pub String);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Choice {
    /// The variant.
    One(#[schemars(extend("description" = "the field"))] Inner),
    Other {
        other: String,
    },
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "differences.example.com",
    version = "v1",
    kind = "Nothing",
    plural = "nothings",
    category = "all",
    shortname = "no"
)]
pub struct NothingSpec {
    pub nothing: Unset,
    pub unit: Unit,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Unset(#[serde(skip_deserializing)] pub u8, #[serde(skip_deserializing)] pub u8);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Unit;
