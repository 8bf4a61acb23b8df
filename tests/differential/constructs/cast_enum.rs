//! Numbered from zero, from numbers that are written, in a type of their own, without what a feature leaves out.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "first")]
    pub first: u32,
    #[serde(default = "third")]
    pub third: i64,
    #[serde(default = "after")]
    pub after: u8,
    #[serde(default = "own")]
    pub own: i32,
    #[serde(default = "wide")]
    pub wide: u8,
    #[serde(default = "skipped")]
    pub skipped: u8,
}

fn first() -> u32 {
    Mode::Fast as u32
}

fn third() -> i64 {
    Mode::Late as i64
}

fn after() -> u8 {
    Mode::Next as u8
}

fn own() -> i32 {
    Signed::Low as i32
}

fn wide() -> u8 {
    Signed::Low as u8
}

fn skipped() -> u8 {
    Some_::Second as u8
}

#[allow(dead_code)]
enum Mode {
    Fast,
    Slow,
    Late = BASE + 7,
    Next,
}

const BASE: isize = 300;

#[repr(i8)]
enum Signed {
    Low = -3,
}

#[allow(non_camel_case_types, dead_code)]
enum Some_ {
    #[cfg(feature = "off")]
    First,
    Second,
}
