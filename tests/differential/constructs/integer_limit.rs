//! Of each width, by its short path and by one through std.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "a")]
    pub a: u32,
    #[serde(default = "b")]
    pub b: i64,
    #[serde(default = "c")]
    pub c: u64,
    #[serde(default = "d")]
    pub d: i8,
    #[serde(default = "e")]
    pub e: i16,
    #[serde(default = "f")]
    pub f: Option<u8>,
    #[serde(default = "g")]
    pub g: u128,
}

fn a() -> u32 {
    u32::MAX
}

fn b() -> i64 {
    i64::MIN
}

fn c() -> u64 {
    u64::MAX
}

fn d() -> i8 {
    std::primitive::i8::MIN
}

fn e() -> i16 {
    i16::MAX - 1
}

fn f() -> Option<u8> {
    Some(u8::MAX)
}

fn g() -> u128 {
    u128::MIN
}
