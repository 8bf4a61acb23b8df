//! Texts.

#![allow(clippy::all)]

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::types::{Level, Named, Point, Shown, Wrapper};

const PREFIX: &str = "prefix";
const NAMES: [&str; 2] = ["n1", "n2"];
fn greet(name: &str) -> String {
    let greeting = "hello";
    format!("{greeting} {name}")
}
fn with_into(text: impl Into<String>) -> String {
    text.into()
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "evaluated.example.com", version = "v1", kind = "Texts")]
pub struct TextsSpec {
    #[serde(default = "f0")]
    pub f0: String,
    #[serde(default = "f1")]
    pub f1: String,
    #[serde(default = "f2")]
    pub f2: String,
    #[serde(default = "f3")]
    pub f3: String,
    #[serde(default = "f4")]
    pub f4: String,
    #[serde(default = "f5")]
    pub f5: String,
    #[serde(default = "f6")]
    pub f6: String,
    #[serde(default = "f8")]
    pub f8: String,
    #[serde(default = "f9")]
    pub f9: String,
    #[serde(default = "f10")]
    pub f10: String,
    #[serde(default = "f11")]
    pub f11: String,
    #[serde(default = "f12")]
    pub f12: String,
    #[serde(default = "f13")]
    pub f13: String,
    #[serde(default = "f14")]
    pub f14: String,
    #[serde(default = "f15")]
    pub f15: String,
    #[serde(default = "f16")]
    pub f16: String,
    #[serde(default = "f17")]
    pub f17: String,
    #[serde(default = "f18")]
    pub f18: String,
    #[serde(default = "f19")]
    pub f19: String,
    #[serde(default = "f20")]
    pub f20: String,
    #[serde(default = "f21")]
    pub f21: String,
    #[serde(default = "f22")]
    pub f22: String,
    #[serde(default = "f23")]
    pub f23: String,
    #[serde(default = "f24")]
    pub f24: String,
    #[serde(default = "f25")]
    pub f25: String,
    #[serde(default = "f26")]
    pub f26: String,
    #[serde(default = "f27")]
    pub f27: String,
    #[serde(default = "f28")]
    pub f28: String,
    #[serde(default = "f29")]
    pub f29: String,
    #[serde(default = "f30")]
    pub f30: String,
    #[serde(default = "f31")]
    pub f31: String,
    #[serde(default = "f32")]
    pub f32: String,
    #[serde(default = "f33")]
    pub f33: String,
    #[serde(default = "f34")]
    pub f34: String,
    #[serde(default = "f35")]
    pub f35: String,
    #[serde(default = "f36")]
    pub f36: String,
    #[serde(default = "f37")]
    pub f37: String,
    #[serde(default = "f38")]
    pub f38: String,
    #[serde(default = "f39")]
    pub f39: String,
    #[serde(default = "f40")]
    pub f40: String,
    #[serde(default = "f41")]
    pub f41: String,
    #[serde(default = "f42")]
    pub f42: String,
    #[serde(default = "f43")]
    pub f43: String,
    #[serde(default = "f44")]
    pub f44: String,
    #[serde(default = "f45")]
    pub f45: String,
    #[serde(default = "f46")]
    pub f46: Option<String>,
    #[serde(default = "f47")]
    pub f47: Option<String>,
    #[serde(default = "f48")]
    pub f48: Option<String>,
    #[serde(default = "f49")]
    pub f49: Option<String>,
    #[serde(default = "f50")]
    pub f50: Option<String>,
    #[serde(default = "f51")]
    pub f51: Option<String>,
    #[serde(default = "f52")]
    pub f52: Vec<String>,
    #[serde(default = "f53")]
    pub f53: Vec<String>,
    #[serde(default = "f54")]
    pub f54: Vec<String>,
    #[serde(default = "f55")]
    pub f55: Vec<String>,
    #[serde(default = "f56")]
    pub f56: Vec<String>,
    #[serde(default = "f57")]
    pub f57: Vec<String>,
    #[serde(default = "f58")]
    pub f58: Vec<String>,
    #[serde(default = "f59")]
    pub f59: Vec<String>,
    #[serde(default = "f60")]
    pub f60: Vec<String>,
    #[serde(default = "f61")]
    pub f61: Vec<String>,
    #[serde(default = "f62")]
    pub f62: Vec<String>,
}

fn f0() -> String {
    "a".into()
}
fn f1() -> String {
    String::from("b") + "c"
}
fn f2() -> String {
    format!("{}-{}", "a", 1)
}
fn f3() -> String {
    format!("{PREFIX}/{name}", name = "x")
}
fn f4() -> String {
    format!("{0}{0}{1}", 1, 2)
}
fn f5() -> String {
    format!("{:02}:{:>5}|{:<4}|{:^5}|", 7, "ab", "c", "d")
}
fn f6() -> String {
    format!("{:.2} {} {:?}", 1.005, 2.0, 3.0)
}
fn f8() -> String {
    format!("{:x} {:X} {:b}", 255, 255, 5)
}
fn f9() -> String {
    format!("{{}} {:?}", "quo\"te")
}
fn f10() -> String {
    concat!("a", 1, true, 2.5, 'c').to_string()
}
fn f11() -> String {
    PREFIX.to_owned()
}
fn f12() -> String {
    PREFIX.to_uppercase().replace('E', "e").repeat(2)
}
fn f13() -> String {
    "  trim ".trim().to_string()
}
fn f14() -> String {
    ["a", "b"].join("-")
}
fn f15() -> String {
    vec!["x".to_string(), "y".to_string()].concat()
}
fn f16() -> String {
    let mut s = String::new();
    s.push_str("ab");
    s.push('c');
    s += "d";
    s
}
fn f17() -> String {
    "a-b-c".split('-').rev().collect::<Vec<_>>().join("+")
}
fn f18() -> String {
    "abc".chars().rev().collect()
}
fn f19() -> String {
    "key=value".split_once('=').map(|(_, v)| v.to_string()).unwrap_or_default()
}
fn f20() -> String {
    "v1.2".strip_prefix("v").unwrap_or("none").to_string()
}
fn f21() -> String {
    if PREFIX.starts_with("p") { "yes" } else { "no" }.to_string()
}
fn f22() -> String {
    match PREFIX {
        "prefix" => "one",
        _ => "two",
    }
    .into()
}
fn f23() -> String {
    Level::High.to_string()
}
fn f24() -> String {
    Level::Low.as_str().to_owned()
}
fn f25() -> String {
    Shown("x".into()).to_string()
}
fn f26() -> String {
    format!("{}", Shown("y".to_owned()))
}
fn f27() -> String {
    'c'.to_string()
}
fn f28() -> String {
    true.to_string() + &5.to_string() + &1.5f32.to_string()
}
fn f29() -> String {
    String::default()
}
fn f30() -> String {
    std::string::String::new()
}
fn f31() -> String {
    3u8.to_string()
}
fn f32() -> String {
    Wrapper::from("w").0
}
fn f33() -> String {
    {
        let w: Wrapper = "v".into();
        w.0
    }
}
fn f34() -> String {
    let w = Wrapper::from(String::from("own"));
    w.0
}
fn f35() -> String {
    "u".parse::<Wrapper>().unwrap().0
}
fn f36() -> String {
    String::from(Level::High)
}
fn f37() -> String {
    greet("you")
}
fn f38() -> String {
    greet(&String::from("them"))
}
fn f39() -> String {
    with_into("z")
}
fn f40() -> String {
    module_path!().to_string()
}
fn f41() -> String {
    Named::name(&Point::new(1, 2))
}
fn f42() -> String {
    Point::new(1, 2).name()
}
fn f43() -> String {
    std::borrow::Cow::Borrowed("cow").into_owned()
}
fn f44() -> String {
    "/a/b/".trim_end_matches('/').trim_start_matches('/').to_string()
}
fn f45() -> String {
    std::net::Ipv4Addr::new(10, 0, 0, 1).to_string()
}
fn f46() -> Option<String> {
    Some("x".into())
}
fn f47() -> Option<String> {
    Some(String::from("x")).filter(|it| it.is_empty())
}
fn f48() -> Option<String> {
    Some("x").map(str::to_owned)
}
fn f49() -> Option<String> {
    Some("x").map(String::from)
}
fn f50() -> Option<String> {
    Some("x").map(Into::into)
}
fn f51() -> Option<String> {
    None
}
fn f52() -> Vec<String> {
    vec!["a".into(), "b".to_owned()]
}
fn f53() -> Vec<String> {
    ["a", "b"].iter().map(ToString::to_string).collect()
}
fn f54() -> Vec<String> {
    ["a", "b"].map(String::from).to_vec()
}
fn f55() -> Vec<String> {
    ["a", "b"].into_iter().map(|it| format!("{it}!")).collect()
}
fn f56() -> Vec<String> {
    NAMES.iter().map(|it| it.to_string()).collect()
}
fn f57() -> Vec<String> {
    let mut v = Vec::new();
    v.push("a".to_string());
    v.extend(["b".to_string()]);
    v
}
fn f58() -> Vec<String> {
    let mut v = vec!["b".to_string(), "a".to_string()];
    v.sort();
    v
}
fn f59() -> Vec<String> {
    vec![String::new(); 2]
}
fn f60() -> Vec<String> {
    Vec::with_capacity(3)
}
fn f61() -> Vec<String> {
    "a b".split_whitespace().map(str::to_string).collect()
}
fn f62() -> Vec<String> {
    "a\nb".lines().enumerate().map(|(i, l)| format!("{i}{l}")).collect()
}
