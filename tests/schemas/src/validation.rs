//! What narrows values.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "validation.example.com", version = "v1", kind = "Ranges")]
pub struct RangesSpec {
    #[schemars(range(min = 1, max = 65535))]
    pub a: i32,
    #[schemars(range(min = 0))]
    pub b: Option<i64>,
    #[schemars(range(max = LIMIT))]
    pub c: u8,
    #[schemars(range(min = -5, max = 5i64))]
    pub d: i64,
    #[schemars(range(min = 0.5, max = 1.5))]
    pub e: f64,
    #[schemars(range(equal = 7))]
    pub f: i32,
    #[schemars(range(min = "1", max = "LIMIT"))]
    pub g: u8,
    #[schemars(range(min = 1))]
    pub h: String,
    #[schemars(range(min = 1, max = 65535u16))]
    pub i: u32,
    #[schemars(range(min = 0.1f32))]
    pub j: f32,
    #[schemars(range(min = 2 * 3))]
    pub k: i32,
}

const LIMIT: u8 = 200;

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "validation.example.com", version = "v1", kind = "Lengths")]
pub struct LengthsSpec {
    #[schemars(length(min = 1, max = 63))]
    pub a: String,
    #[schemars(length(max = 3))]
    pub b: Vec<String>,
    #[schemars(length(equal = 2))]
    pub c: Option<String>,
    #[schemars(length(min = 1))]
    pub d: Option<Vec<i32>>,
    #[schemars(length(min = 1))]
    pub e: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "validation.example.com", version = "v1", kind = "Patterns")]
pub struct PatternsSpec {
    #[schemars(regex(pattern = r"^[a-z]+$"))]
    pub a: String,
    #[schemars(pattern(r"^\d+$"))]
    pub b: Option<String>,
    #[schemars(regex(pattern = EXPRESSION))]
    pub c: String,
    #[schemars(contains(pattern = "a.b"))]
    pub d: String,
    #[schemars(email)]
    pub e: String,
    #[schemars(url)]
    pub f: Option<String>,
    #[schemars(ipv4)]
    pub g: String,
}

const EXPRESSION: &str = "^x$";

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "validation.example.com", version = "v1", kind = "Inners")]
pub struct InnersSpec {
    #[schemars(inner(length(min = 1), pattern("^a")))]
    pub a: Vec<String>,
    #[schemars(length(min = 1), inner(range(min = 3)))]
    pub b: Vec<i32>,
    #[schemars(required)]
    pub c: Option<String>,
    #[schemars(required, length(min = 2))]
    pub d: Option<Vec<i32>>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "validation.example.com", version = "v1", kind = "Extensions")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct ExtensionsSpec {
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub a: serde_json::Value,
    #[schemars(extend("multipleOf" = 5, "exclusiveMinimum" = true), range(min = 0))]
    pub b: i32,
    #[schemars(extend("default" = { "a": [1, 2.5, null, -3, "x"], "b": { "c": false } }))]
    pub c: Inner,
    #[schemars(extend("enum" = ["a", "b"]))]
    pub d: String,
    #[schemars(extend("maxProperties" = 3))]
    pub e: std::collections::BTreeMap<String, String>,
    #[schemars(with = "String")]
    pub f: Opaque,
    #[schemars(with = "Option<i32>")]
    pub g: Opaque,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner {
    pub a: Vec<serde_json::Value>,
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Opaque(u8);

const WORD: &str = "^[a-z]+$";

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "validation.example.com", version = "v1", kind = "Transforms")]
pub struct TransformsSpec {
    #[schemars(extend("maximum" = 9))]
    pub a: i32,
    pub b: Option<String>,
    pub c: Titled,
    pub d: Option<i32>,
    pub e: Whole,
    #[schemars(contains("a.b"))]
    pub f: String,
    #[schemars(contains(pattern = "(x)"))]
    pub g: String,
    #[schemars(inner(regex(pattern = WORD), length(min = 1)), length(equal = "2"))]
    pub h: Vec<String>,
}

/// # Title
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Titled {
    /// # Another
    pub x: i32,
    #[schemars(title = "More")]
    pub y: Vec<String>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Whole {
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "validation.example.com", version = "v1", kind = "OthersAttributes")]
pub struct OthersAttributesSpec {
    #[validate(length(min = 1, max = "10", message = "no"), email(message = "x"))]
    pub a: String,
    #[garde(length(chars, min = 2), pattern(WORD))]
    pub b: Option<String>,
    #[garde(range(min = 1, max = 5), custom(whatever))]
    #[validate(nested)]
    pub c: i32,
    #[validate(required, contains(pattern = "a.b"))]
    pub d: Option<String>,
    #[garde(inner(length(min = 3), dive), dive)]
    pub e: Vec<String>,
    #[schemars(length(min = 1))]
    #[validate(length(min = 2), range(max = 3))]
    #[garde(length(min = 4), contains("x"))]
    pub f: String,
    #[garde(skip)]
    #[validate(url)]
    pub g: String,
    #[garde(ip)]
    pub h: String,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "validation.example.com", version = "v1", kind = "Attributed")]
#[kube(doc = "What is said first.", attr = "doc = \" And behind it.\"", attr = "deprecated")]
#[kube(attr = "cfg_attr(docsrs, doc(cfg(feature = \"any\")))", attr = "doc(hidden)")]
#[kube(attr = "allow(missing_docs)", validation = "self.spec.a != 'b'")]
#[kube(attr = "x_kube(validation = Rule::new(\"self.spec.a != 'c'\").message(\"no c\"))")]
#[allow(deprecated)]
pub struct AttributedSpec {
    pub a: String,
}
