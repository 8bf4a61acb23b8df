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
    #[serde(default = "j")]
    pub j: f64,
    #[serde(default = "k")]
    pub k: i32,
    #[serde(default = "l")]
    pub l: u8,
    #[serde(default = "m")]
    pub m: u8,
    #[serde(default = "n")]
    pub n: f32,
    #[serde(default = "o")]
    pub o: f32,
    #[serde(default = "p")]
    pub p: f64,
    #[serde(default = "r")]
    pub r: f32,
    #[serde(default = "s")]
    pub s: i64,
    #[serde(default = "t")]
    pub t: u64,
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

fn j() -> f64 {
    WIDE as f64
}

fn k() -> i32 {
    3.99 as i32
}

fn l() -> u8 {
    -5.5 as u8
}

fn m() -> u8 {
    300.5 as u8
}

fn n() -> f32 {
    0.1 as f32
}

fn o() -> f32 {
    (0.1 + 0.2) as f32
}

fn p() -> f64 {
    0.1_f32 as f64
}

fn r() -> f32 {
    16_777_217 as f32
}

fn s() -> i64 {
    (2.5 * 2.0) as i64
}

fn t() -> u64 {
    1e30 as u64
}
