//! Types with parameters, and types that contain themselves.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "generics.example.com", version = "v1", kind = "Generic")]
pub struct GenericSpec {
    pub plain: Wrapper<String>,
    /// A field.
    pub documented: Wrapper<Inner>,
    pub nested: Wrapper<Wrapper<Vec<Inner>>>,
    pub maybe: Option<Wrapper<Option<i32>>>,
    pub pair: Pair<i32>,
    pub other_pair: Pair<i32, bool>,
    pub aliased: Named<Inner>,
    pub alias_default: OrText,
    pub alias_given: OrText<i32>,
    pub borrowed: Borrowed<'static, Inner>,
    pub cow: Cow<'static, str>,
    pub phantom: Marked<NoSchema>,
    pub array: [i32; 4],
    pub newtype: Newtype<Inner>,
    pub transparent: Transparent<Option<i32>>,
    pub flat: Flat<Inner>,
    pub own: Vec<Own>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Inner {
    pub x: i32,
}

#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct NoSchema;

/// Wraps.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Wrapper<T> {
    pub the_value: T,
    /// All.
    pub all: Vec<T>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Pair<A, B = Vec<A>> {
    pub left: A,
    pub right: B,
}

type Named<T> = BTreeMap<String, Option<T>>;
type OrText<T = String> = Option<T>;

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Borrowed<'a, T>
where
    T: Clone,
{
    pub text: Cow<'a, str>,
    pub value: T,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Marked<T> {
    pub value: i32,
    #[serde(skip)]
    pub marker: PhantomData<T>,
    pub shown: PhantomData<T>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Newtype<T>(pub T);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(transparent)]
pub struct Transparent<T> {
    pub value: T,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Flat<T> {
    #[serde(flatten)]
    pub value: T,
    pub more: bool,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Own {
    #[serde(skip)]
    pub next: Option<Box<Self>>,
    pub value: Pair<bool>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "generics.example.com", version = "v1", kind = "GenericNames")]
pub struct GenericNamesSpec {
    pub a: Renamed<i32, String>,
    pub b: Renamed<Named2<bool>, Vec<i32>>,
    pub c: Named2<Named2<bool>>,
    pub d: Node<Renamed<i32, bool>>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Renamed<T, U> {
    pub t: T,
    pub u: U,
    pub node: Option<Node<U>>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[schemars(rename = "Just")]
pub struct Named2<T> {
    pub t: T,
}

/// Its name is in the reference.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[schemars(rename = "Node")]
pub struct Node<T> {
    pub value: T,
    pub next: Option<Box<Node<T>>>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "generics.example.com", version = "v1", kind = "GenericDefaults")]
pub struct GenericDefaultsSpec {
    pub a: Unwritten<i32>,
    pub b: Written<i32>,
    #[serde(default)]
    pub c: Written<String>,
    #[serde(default)]
    pub d: Defaulted<bool>,
    pub e: Whole<i32>,
}

/// The derive cannot know that `T` can be written.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(bound(deserialize = "T: Default + Deserialize<'de>"))]
pub struct Unwritten<T: Default> {
    #[serde(default)]
    pub value: T,
    #[serde(default)]
    pub list: Vec<T>,
    #[serde(default)]
    pub number: i32,
    #[serde(default)]
    pub marker: PhantomData<T>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(bound = "")]
pub struct Written<T>
where
    T: Default + Serialize + serde::de::DeserializeOwned,
{
    #[serde(default)]
    pub value: T,
    #[serde(default)]
    pub list: Vec<T>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
pub struct Defaulted<T> {
    pub value: T,
    pub list: Vec<T>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
#[serde(default, bound(deserialize = "T: Default + Deserialize<'de>"))]
pub struct Whole<T: Default> {
    pub value: T,
    pub number: i32,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "generics.example.com", version = "v1", kind = "GenericEnums")]
pub struct GenericEnumsSpec {
    pub a: Either<i32, Inner>,
    pub b: Option<Either<Inner, Vec<Inner>>>,
    pub c: Loose<Inner>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub enum Either<L, R> {
    LeftOne(L),
    /// Right.
    RightOne {
        value: R,
    },
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Loose<T> {
    One { one: T },
    Many { many: Vec<T> },
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "generics.example.com", version = "v1", kind = "Tree")]
pub struct TreeSpec {
    pub root: Branch,
    /// Another.
    pub other: Option<Branch>,
    pub flat: Flat<Branch>,
    pub itself: Option<Box<TreeSpec>>,
    pub whole: Option<Box<Tree>>,
}

/// A branch.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Branch {
    pub name: String,
    /// More.
    pub branches: Vec<Branch>,
    pub by_name: BTreeMap<String, Self>,
    pub next: Option<Box<Branch>>,
    pub leaf: Option<Box<Leaf>>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Leaf {
    Branch(Branch),
    Leaf(Box<Leaf>),
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "generics.example.com", version = "v1", kind = "Forest")]
pub struct ForestSpec {
    pub left: Left<i32>,
    pub right: Left<bool>,
    pub flat: Rec,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Left<T> {
    pub value: T,
    pub right: Option<Box<Right<T>>>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Right<T> {
    pub value: T,
    pub left: Option<Box<Left<T>>>,
    pub swapped: Vec<Left<String>>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Rec {
    #[serde(flatten)]
    pub inner: RecInner,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct RecInner {
    pub more: Option<Box<RecInner>>,
    pub back: Option<Box<Rec>>,
}

/// Two types of one name in one module look alike to schemars.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "generics.example.com", version = "v1", kind = "Twice")]
pub struct TwiceSpec {
    pub one: One,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[schemars(rename = "Same")]
pub struct One {
    pub other: Other,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[schemars(rename = "Same")]
pub struct Other {
    pub x: i32,
}
