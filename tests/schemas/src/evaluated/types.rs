//! Types of the project, and of other crates.

#![allow(clippy::all)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;

use k8s_openapi::api::core::v1::{LocalObjectReference, ResourceRequirements, Toleration};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

pub const PORT: u16 = 80;
pub const ORIGIN: Point = Point { x: 0, y: 0 };

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

pub trait Named {
    const NUMBER: u16;
    fn name(&self) -> String {
        format!("named {}", Self::NUMBER)
    }
}

impl Named for Point {
    const NUMBER: u16 = PORT * 2;
}

impl Point {
    pub const LIMIT: u16 = 512;
    pub const ORIGIN: Self = Self { x: -1, y: Self::LIMIT as i32 };

    pub const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }

    pub fn dot(&self, other: &Self) -> i32 {
        self.x * other.x + self.y * other.y
    }

    pub fn grow(&mut self, by: i32) {
        self.x += by;
        self.y *= by;
    }

    pub fn other() -> u16 {
        Self::LIMIT / 2
    }
}

#[derive(
    JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default,
)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    #[default]
    Low = 2,
    VeryMiddle,
    High = 5,
}

impl Level {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Low => "lo",
            Self::VeryMiddle | Level::High => "hi",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.as_str())
    }
}

impl From<i32> for Level {
    fn from(number: i32) -> Self {
        if number > 5 { Self::High } else { Self::Low }
    }
}

impl From<Level> for String {
    fn from(level: Level) -> Self {
        level.as_str().to_string()
    }
}

pub struct Shown(pub String);
impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("shown ")?;
        f.write_str(&self.0)
    }
}

#[derive(Debug)]
pub struct Wrapper(pub String);
impl From<&str> for Wrapper {
    fn from(text: &str) -> Self {
        Self(format!("str {text}"))
    }
}
impl From<String> for Wrapper {
    fn from(text: String) -> Self {
        Wrapper(text)
    }
}
impl FromStr for Wrapper {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err("empty".to_string());
        }
        Ok(Self(text.to_uppercase()))
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub enum Shape {
    Dot(Point),
    Line {
        #[serde(rename = "start")]
        from: Point,
        to: Point,
    },
    #[serde(skip_deserializing)]
    Pair(i32, String),
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "UPPERCASE")]
pub enum Tagged {
    One {
        value: i32,
    },
    #[serde(skip_deserializing)]
    Two,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(tag = "t", content = "c")]
pub enum Adjacent {
    One {
        value: i32,
    },
    #[serde(skip_deserializing)]
    Two(i32),
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Free {
    Rest {
        flag: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        more: Option<i32>,
    },
    #[schemars(skip)]
    Number(i32),
    #[schemars(skip)]
    Text(String),
}

/// Its default is written by hand.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct By {
    pub level: Level,
    pub some_name: String,
    pub list: Vec<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub none: Option<i32>,
}

impl Default for By {
    fn default() -> Self {
        let some_name = String::from("by hand");
        Self { level: Level::VeryMiddle, some_name, list: vec![PORT, 443], none: None }
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Flat {
    #[serde(flatten)]
    pub inner: Point,
    #[serde(flatten)]
    pub extra: BTreeMap<String, i32>,
    #[serde(flatten)]
    pub last: Option<Point>,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Thin(pub Vec<i32>);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(transparent)]
pub struct Through {
    pub only: i32,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(into = "String", from = "String")]
pub struct IntoText {
    pub a: i32,
    pub b: i32,
}

impl From<IntoText> for String {
    fn from(it: IntoText) -> Self {
        format!("{}/{}", it.a, it.b)
    }
}

impl From<String> for IntoText {
    fn from(_: String) -> Self {
        Self { a: 0, b: 0 }
    }
}

#[derive(JsonSchema, Deserialize, Clone, Debug)]
pub struct HandWritten {
    pub text: String,
}

impl Serialize for HandWritten {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text.to_uppercase())
    }
}

#[derive(JsonSchema, Deserialize, Clone, Debug)]
pub enum HandMatched {
    First,
    Second,
}

impl Serialize for HandMatched {
    fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
    where
        S: Serializer,
    {
        match self {
            HandMatched::First => serializer.serialize_i32(1),
            HandMatched::Second => serializer.serialize_u64(2),
        }
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct WithFn {
    #[serde(serialize_with = "as_hex")]
    pub raw: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: i32,
    #[serde(skip_serializing_if = "is_zero")]
    pub kept: i32,
    #[serde(skip_serializing_if = "is_default")]
    pub odd: bool,
}

fn as_hex<S: Serializer>(it: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("0x{:02x}", it))
}

fn is_zero(it: &i32) -> bool {
    *it == 0
}

fn is_default<T: Default + PartialEq>(it: &T) -> bool {
    *it == T::default()
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default)]
pub struct Generic<T> {
    pub value: T,
    pub list: Vec<T>,
}

impl<T> Generic<T> {
    pub fn new(value: T) -> Self {
        Self { value, list: Vec::new() }
    }
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "Wholly")]
pub struct WhollySpec {
    #[serde(default)]
    pub by: By,
    pub hand: Hand,
    pub path: ByPath,
    #[serde(default, skip_serializing_if = "is_default")]
    pub skipped: By2,
    #[serde(default = "as_is", serialize_with = "as_hex")]
    pub hex: u8,
}

fn as_is() -> u8 {
    17
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct By2 {
    pub a: i32,
}

/// Cannot be written, so that nothing is said of its default.
#[derive(JsonSchema, Deserialize, Clone, Debug)]
pub struct Bare {
    pub x: i32,
}

impl Bare {
    fn new() -> Self {
        Self { x: 1 }
    }
}

impl Serialize for Hand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.name)
    }
}

#[derive(JsonSchema, Deserialize, Clone, Debug)]
#[serde(default)]
pub struct Hand {
    pub name: String,
    pub port: u16,
    #[serde(default = "as_is")]
    pub own: u8,
    pub bare: Option<Bare>,
    #[serde(default = "Bare::new")]
    pub no_serialize: Bare,
}

impl Default for Hand {
    fn default() -> Self {
        Self { name: "hand".into(), port: PORT, own: 0, bare: None, no_serialize: Bare::new() }
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[serde(default = "by_path")]
pub struct ByPath {
    pub name: String,
    pub levels: Vec<Level>,
}

fn by_path() -> ByPath {
    ByPath { name: "path".to_string(), levels: [Level::Low, Level::High].to_vec() }
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "Types")]
pub struct TypesSpec {
    #[serde(default = "f0")]
    pub f0: Vec<i32>,
    #[serde(default = "f1")]
    pub f1: Vec<u64>,
    #[serde(default = "f2")]
    pub f2: Vec<u8>,
    #[serde(default = "f3")]
    pub f3: Vec<f32>,
    #[serde(default = "f4")]
    pub f4: Vec<(i32, String)>,
    #[serde(default = "f5")]
    pub f5: [u8; 3],
    #[serde(default = "f6")]
    pub f6: [i32; 2],
    #[serde(default = "f7")]
    pub f7: BTreeMap<String, i32>,
    #[serde(default = "f8")]
    pub f8: BTreeMap<String, String>,
    #[serde(default = "f9")]
    pub f9: BTreeMap<String, i32>,
    #[serde(default = "f10")]
    pub f10: BTreeMap<String, i32>,
    #[serde(default = "f11")]
    pub f11: BTreeMap<i32, bool>,
    #[serde(default = "f12")]
    pub f12: BTreeMap<Level, i32>,
    #[serde(default = "f13")]
    pub f13: HashMap<String, i32>,
    #[serde(default = "f14")]
    pub f14: BTreeSet<String>,
    #[serde(default = "f15")]
    pub f15: BTreeSet<i32>,
    #[serde(default = "f16")]
    pub f16: Option<Level>,
    #[serde(default = "f17")]
    pub f17: Level,
    #[serde(default = "f18")]
    pub f18: Level,
    #[serde(default = "f19")]
    pub f19: Level,
    #[serde(default = "f20")]
    pub f20: Level,
    #[serde(default = "f21")]
    pub f21: Option<Vec<Point>>,
    #[serde(default = "f22")]
    pub f22: Point,
    #[serde(default = "f23")]
    pub f23: Point,
    #[serde(default = "f24")]
    pub f24: Point,
    #[serde(default = "f25")]
    pub f25: Point,
    #[serde(default = "f26")]
    pub f26: Point,
    #[serde(default = "f27")]
    pub f27: Point,
    #[serde(default = "f28")]
    pub f28: Shape,
    #[serde(default = "f29")]
    pub f29: Shape,
    #[serde(default = "f30")]
    pub f30: Shape,
    #[serde(default = "f31")]
    pub f31: Tagged,
    #[serde(default = "f32")]
    pub f32: Tagged,
    #[serde(default = "f33")]
    pub f33: Adjacent,
    #[serde(default = "f34")]
    pub f34: Adjacent,
    #[serde(default = "f35")]
    pub f35: Free,
    #[serde(default = "f36")]
    pub f36: Free,
    #[serde(default = "f37")]
    pub f37: Free,
    #[serde(default = "f38")]
    pub f38: By,
    #[serde(default = "f39")]
    pub f39: By,
    #[serde(default = "f40")]
    pub f40: Flat,
    #[serde(default = "f41")]
    pub f41: Thin,
    #[serde(default = "f42")]
    pub f42: Through,
    #[serde(default = "f43")]
    pub f43: IntoText,
    #[serde(default = "f44")]
    pub f44: HandWritten,
    #[serde(default = "f45")]
    pub f45: HandMatched,
    #[serde(default = "f46")]
    pub f46: WithFn,
    #[serde(default = "f47")]
    pub f47: Generic<u8>,
    #[serde(default = "f48")]
    pub f48: Generic<String>,
    #[serde(default = "f49")]
    pub f49: Generic<Level>,
    #[serde(default = "f50")]
    pub f50: Box<Point>,
    #[serde(default = "f51")]
    pub f51: Box<Point>,
    #[serde(default = "f52")]
    pub f52: Option<Box<Point>>,
    #[serde(default = "f53")]
    pub f53: std::sync::Arc<String>,
    #[serde(default = "f54")]
    pub f54: std::net::IpAddr,
    #[serde(default = "f55")]
    pub f55: std::net::IpAddr,
    #[serde(default = "f56")]
    pub f56: std::net::Ipv4Addr,
    #[serde(default = "f57")]
    pub f57: std::net::IpAddr,
    #[serde(default = "f58")]
    pub f58: std::path::PathBuf,
    #[serde(default = "f59")]
    pub f59: std::path::PathBuf,
    #[serde(default = "f60")]
    pub f60: std::time::Duration,
    #[serde(default = "f61")]
    pub f61: std::num::NonZeroU16,
    #[serde(default = "f62")]
    pub f62: kube::core::Duration,
    #[serde(default = "f63")]
    pub f63: kube::core::Duration,
    #[serde(default = "f64")]
    pub f64: serde_json::Value,
    #[serde(default = "f65")]
    pub f65: serde_json::Value,
    #[serde(default = "f66")]
    pub f66: serde_json::Value,
    #[serde(default = "f67")]
    pub f67: Quantity,
    #[serde(default = "f68")]
    pub f68: IntOrString,
    #[serde(default = "f69")]
    pub f69: IntOrString,
    #[serde(default = "f70")]
    pub f70: Option<Quantity>,
    #[serde(default = "f71")]
    pub f71: BTreeMap<String, Quantity>,
    #[serde(default = "f72")]
    pub f72: ResourceRequirements,
    #[serde(default = "f73")]
    pub f73: LocalObjectReference,
    #[serde(default = "f74")]
    pub f74: Vec<Toleration>,
    #[serde(default = "f75")]
    pub f75: Option<LabelSelector>,
    #[serde(default = "f76")]
    pub f76: (i32, String),
    #[serde(default = "f77")]
    pub f77: (),
}

fn f0() -> Vec<i32> {
    vec![3; 2]
}
fn f1() -> Vec<u64> {
    [1, 2, 3].into()
}
fn f2() -> Vec<u8> {
    (1..=3).collect()
}
fn f3() -> Vec<f32> {
    vec![0.1, 1.0 / 3.0]
}
fn f4() -> Vec<(i32, String)> {
    vec![(1, "a".into())]
}
fn f5() -> [u8; 3] {
    [7; 3]
}
fn f6() -> [i32; 2] {
    Default::default()
}
fn f7() -> BTreeMap<String, i32> {
    BTreeMap::from([("b".into(), 2), ("a".into(), 1)])
}
fn f8() -> BTreeMap<String, String> {
    let mut m = BTreeMap::new();
    m.insert("k".to_string(), "v".to_string());
    m.insert("a".to_string(), "b".to_string());
    m
}
fn f9() -> BTreeMap<String, i32> {
    [("x".to_string(), 1)].into()
}
fn f10() -> BTreeMap<String, i32> {
    ["p", "q"].iter().map(|it| (it.to_string(), it.len() as i32)).collect()
}
fn f11() -> BTreeMap<i32, bool> {
    BTreeMap::from([(10, true), (9, false)])
}
fn f12() -> BTreeMap<Level, i32> {
    BTreeMap::from([(Level::High, 1), (Level::Low, 2)])
}
fn f13() -> HashMap<String, i32> {
    HashMap::from([("b".into(), 2), ("a".into(), 1)])
}
fn f14() -> BTreeSet<String> {
    ["b", "a", "b"].into_iter().map(String::from).collect()
}
fn f15() -> BTreeSet<i32> {
    BTreeSet::from([3, 1, 2])
}
fn f16() -> Option<Level> {
    Some(Level::High)
}
fn f17() -> Level {
    Level::default()
}
fn f18() -> Level {
    Default::default()
}
fn f19() -> Level {
    Level::from(9)
}
fn f20() -> Level {
    5.into()
}
fn f21() -> Option<Vec<Point>> {
    Some(vec![Point::new(1, 2), Point { x: 3, y: 4 }])
}
fn f22() -> Point {
    Point { x: 1, ..Default::default() }
}
fn f23() -> Point {
    Point { y: 2, ..Point::new(9, 9) }
}
fn f24() -> Point {
    ORIGIN
}
fn f25() -> Point {
    Point::ORIGIN
}
fn f26() -> Point {
    let mut p = ORIGIN;
    p.x += 5;
    p
}
fn f27() -> Point {
    let p = Point::new(1, 2);
    p.clone()
}
fn f28() -> Shape {
    Shape::Dot(ORIGIN)
}
fn f29() -> Shape {
    Shape::Line { from: ORIGIN, to: Point::new(1, 1) }
}
fn f30() -> Shape {
    Shape::Pair(1, "two".to_string())
}
fn f31() -> Tagged {
    Tagged::One { value: 1 }
}
fn f32() -> Tagged {
    Tagged::Two
}
fn f33() -> Adjacent {
    Adjacent::One { value: 1 }
}
fn f34() -> Adjacent {
    Adjacent::Two(5)
}
fn f35() -> Free {
    Free::Number(3)
}
fn f36() -> Free {
    Free::Text("t".into())
}
fn f37() -> Free {
    Free::Rest { flag: true, more: None }
}
fn f38() -> By {
    By::default()
}
fn f39() -> By {
    By { level: Level::High, ..By::default() }
}
fn f40() -> Flat {
    Flat { inner: Point::new(1, 2), extra: BTreeMap::from([("k".into(), 1)]), last: None }
}
fn f41() -> Thin {
    Thin(vec![1])
}
fn f42() -> Through {
    Through { only: 5 }
}
fn f43() -> IntoText {
    IntoText { a: 1, b: 2 }
}
fn f44() -> HandWritten {
    HandWritten { text: "abc".into() }
}
fn f45() -> HandMatched {
    HandMatched::Second
}
fn f46() -> WithFn {
    WithFn { raw: 255, left_out: 0, kept: 1, odd: false }
}
fn f47() -> Generic<u8> {
    Generic { value: 3, list: vec![1, 2] }
}
fn f48() -> Generic<String> {
    Generic::new("g".to_string())
}
fn f49() -> Generic<Level> {
    Default::default()
}
fn f50() -> Box<Point> {
    Box::new(ORIGIN)
}
fn f51() -> Box<Point> {
    Box::default()
}
fn f52() -> Option<Box<Point>> {
    Some(Box::new(Point::new(1, 2)))
}
fn f53() -> std::sync::Arc<String> {
    std::sync::Arc::new("arc".to_string())
}
fn f54() -> std::net::IpAddr {
    "10.0.0.1".parse().unwrap()
}
fn f55() -> std::net::IpAddr {
    std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)
}
fn f56() -> std::net::Ipv4Addr {
    std::net::Ipv4Addr::UNSPECIFIED
}
fn f57() -> std::net::IpAddr {
    std::net::IpAddr::from([127, 0, 0, 1])
}
fn f58() -> std::path::PathBuf {
    "/tmp/x".into()
}
fn f59() -> std::path::PathBuf {
    std::path::PathBuf::from("/a")
}
fn f60() -> std::time::Duration {
    std::time::Duration::from_millis(1500)
}
fn f61() -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(80).unwrap()
}
fn f62() -> kube::core::Duration {
    kube::core::Duration::from(std::time::Duration::from_secs(300))
}
fn f63() -> kube::core::Duration {
    "5m".parse().unwrap()
}
fn f64() -> serde_json::Value {
    serde_json::json!({"a": [1, null, PORT], "b": {"c": ORIGIN}})
}
fn f65() -> serde_json::Value {
    serde_json::Value::String("s".into())
}
fn f66() -> serde_json::Value {
    true.into()
}
fn f67() -> Quantity {
    Quantity("1Gi".to_string())
}
fn f68() -> IntOrString {
    IntOrString::Int(80)
}
fn f69() -> IntOrString {
    IntOrString::String("80%".into())
}
fn f70() -> Option<Quantity> {
    Some(Quantity("10m".into()))
}
fn f71() -> BTreeMap<String, Quantity> {
    BTreeMap::from([("cpu".to_string(), Quantity("100m".to_string()))])
}
fn f72() -> ResourceRequirements {
    ResourceRequirements {
        limits: Some(BTreeMap::from([("cpu".to_string(), Quantity("1".into()))])),
        ..Default::default()
    }
}
fn f73() -> LocalObjectReference {
    LocalObjectReference { name: "secret".into() }
}
fn f74() -> Vec<Toleration> {
    vec![Toleration {
        key: Some("k".into()),
        operator: Some("Exists".to_string()),
        toleration_seconds: Some(30),
        ..Toleration::default()
    }]
}
fn f75() -> Option<LabelSelector> {
    Some(LabelSelector {
        match_labels: Some([("a".to_string(), "b".to_string())].into()),
        ..Default::default()
    })
}
fn f76() -> (i32, String) {
    (1, "x".into())
}
fn f77() -> () {
    ()
}
