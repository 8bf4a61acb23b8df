//! Between widths and signs, of literals, constants and booleans.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "a")]
    pub a: u8,
    #[serde(default = "b")]
    pub b: u32,
    #[serde(default = "c")]
    pub c: i64,
    #[serde(default = "d")]
    pub d: u8,
    #[serde(default = "e")]
    pub e: i8,
    #[serde(default = "f")]
    pub f: i64,
    #[serde(default = "g")]
    pub g: u32,
    #[serde(default = "h")]
    pub h: usize,
    #[serde(default = "i")]
    pub i: i64,
}

fn a() -> u8 {
    WIDE as u8
}

fn b() -> u32 {
    -1_i64 as u32
}

fn c() -> i64 {
    u64::MAX as i64
}

fn d() -> u8 {
    true as u8
}

fn e() -> i8 {
    0x80_u8 as i8
}

fn f() -> i64 {
    5 as i64
}

fn g() -> u32 {
    (2 + 3) as u32
}

fn h() -> usize {
    WIDE as usize
}

fn i() -> i64 {
    (WIDE as u8) as i64 * 2
}

const WIDE: i32 = 300;
