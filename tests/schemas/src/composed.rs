//! Types made of other types.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "Flat")]
pub struct FlatSpec {
    pub name: String,
    #[serde(flatten)]
    pub rest: Rest,
    #[serde(flatten)]
    pub maybe: Option<More>,
}

/// Rest.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Rest {
    /// One.
    pub one_thing: i32,
    pub two: Option<String>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct More {
    pub three: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "FlatMap")]
pub struct FlatMapSpec {
    pub name: String,
    #[serde(flatten)]
    pub rest: BTreeMap<String, serde_json::Value>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "FlatEnum")]
pub struct FlatEnumSpec {
    pub name: String,
    #[serde(flatten)]
    pub choice: Choice,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    /// A.
    A {
        x: i32,
    },
    B(String),
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "Newtypes")]
pub struct NewtypesSpec {
    pub a: Plain,
    /// Field.
    pub b: Plain,
    pub c: Documented,
    pub d: Transparent,
    pub e: TransparentDocumented,
    pub f: MaybeTransparent,
    pub g: Ranged,
    pub h: Pair,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Plain(pub String);

/// A documented newtype.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Documented(pub i32);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(transparent)]
pub struct Transparent {
    pub inner: Vec<String>,
}

/// Documented.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(transparent)]
pub struct TransparentDocumented(Option<i32>);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(transparent)]
pub struct MaybeTransparent(Option<i32>);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Ranged(#[schemars(range(min = 1))] pub i32);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Pair(pub i32, pub String);

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "Stands")]
pub struct StandsSpec {
    pub a: FromText,
    pub b: TriedText,
    pub c: Instead,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(from = "String", into = "String")]
pub struct FromText {
    pub hidden: i32,
}
impl From<String> for FromText {
    fn from(_: String) -> Self {
        Self { hidden: 0 }
    }
}
impl From<FromText> for String {
    fn from(_: FromText) -> Self {
        Self::new()
    }
}

/// Tried.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(try_from = "Option<u8>")]
pub struct TriedText {
    pub hidden: i32,
}
impl TryFrom<Option<u8>> for TriedText {
    type Error = String;
    fn try_from(_: Option<u8>) -> Result<Self, String> {
        Err(String::new())
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[schemars(with = "Vec<i32>")]
pub struct Instead {
    pub hidden: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "Aliases")]
pub struct AliasesSpec {
    pub a: Text,
    pub b: Numbers,
    pub c: MaybeInner,
}

type Text = String;
type Numbers = Vec<i32>;
type MaybeInner = Option<AliasesInner>;

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct AliasesInner {
    pub x: Text,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "Denied")]
#[serde(deny_unknown_fields)]
pub struct DeniedSpec {
    pub a: DeniedInner,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct DeniedInner {
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "Kept")]
#[allow(dead_code)]
#[must_use]
pub struct KeptSpec {
    pub a: i32,
    #[cfg(test)]
    pub b: NotThere,
    #[cfg(not(test))]
    pub c: i32,
    #[cfg_attr(not(test), serde(rename = "dee"))]
    pub d: i32,
    #[cfg(feature = "undeclared")]
    pub e: NotThere,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "Renamed")]
#[schemars(rename = "Other")]
pub struct RenamedSpec {
    pub a: RenamedInner,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[schemars(rename = "Another", inline)]
pub struct RenamedInner {
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "composed.example.com", version = "v1", kind = "Extended")]
pub struct ExtendedSpec {
    pub a: ExtendedNewtype,
    pub b: ExtendedTransparent,
    pub c: ExtendedInternal,
    pub d: ExtendedUntagged,
}

/// The type's.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct ExtendedNewtype(#[schemars(extend("description" = "the field's"))] String);

/// The type's.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(transparent)]
pub struct ExtendedTransparent(#[schemars(extend("description" = "the field's"))] String);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(tag = "kind_of")]
pub enum ExtendedInternal {
    /// The variant's.
    One(#[schemars(extend("description" = "the field's", "required" = []))] AliasesInner),
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum ExtendedUntagged {
    /// The variant's.
    One(#[schemars(extend("description" = "the field's"))] AliasesInner),
}
