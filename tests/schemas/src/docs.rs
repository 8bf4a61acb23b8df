//! Doc comments, titles, descriptions, examples.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "docs.example.com", version = "v1", kind = "Described")]
/// The spec.
///
/// With more:
///   - indented
///
/// And *more*.
pub struct DescribedSpec {
    /// A name.
    pub a: String,
    ///   Two
    /// lines.
    pub b: i32,
    pub c: Inner,
    /// Said here.
    pub d: Inner,
    /// Said here, too.
    pub e: Option<Inner>,
    pub f: Titled,
    /// Beside a title.
    pub g: Titled,
    ///
    pub h: i32,
    #[doc = "As an attribute."]
    #[doc = " And more."]
    pub i: bool,
    /** A block. */
    pub j: bool,
}

/// Of the type.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner {
    pub x: i32,
}

/// # A Title #
///
/// And a description.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Titled {
    pub x: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "docs.example.com", version = "v1", kind = "Documented", doc = "Said by kube.")]
pub struct DocumentedSpec {
    pub a: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "docs.example.com", version = "v1", kind = "Headed", doc = "# Heading\nand text")]
pub struct HeadedSpec {
    pub a: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "docs.example.com", version = "v1", kind = "Titles")]
#[schemars(title = "The title", description = "The description")]
pub struct TitlesSpec {
    #[schemars(title = "One", description = "First")]
    pub a: i32,
    /// Doc.
    #[schemars(title = "Two")]
    pub b: i32,
    /// Doc.
    #[schemars(description = DESCRIPTION)]
    pub c: i32,
    #[deprecated]
    pub d: Option<String>,
    #[schemars(example = 5, example = 6)]
    pub e: i32,
    #[schemars(example = &"word", title = concat!("a", "b"))]
    pub f: String,
}

const DESCRIPTION: &str = "from a constant";

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "docs.example.com", version = "v1", kind = "Variants")]
pub struct VariantsSpec {
    pub a: Plain,
    /// Field.
    pub b: Plain,
    pub c: Some_,
    /// Field.
    pub d: Some_,
    pub e: Option<Plain>,
    /// Field.
    pub f: Option<Plain>,
    pub g: Option<Some_>,
    /// Field.
    pub h: Option<Some_>,
    pub i: Vec<Some_>,
}

/// Of plain.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Plain {
    A,
    B,
}

/// Of some.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Some_ {
    /// First.
    A,
    B,
    /// Third.
    #[serde(rename = "sea")]
    C,
}
