//! With bits that are shifted out, of negative numbers, and with an amount of another type.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "a")]
    pub a: i64,
    #[serde(default = "b")]
    pub b: i32,
    #[serde(default = "c")]
    pub c: u8,
    #[serde(default = "d")]
    pub d: i32,
    #[serde(default = "e")]
    pub e: u64,
    #[serde(default = "f")]
    pub f: u32,
    #[serde(default = "g")]
    pub g: i8,
    #[serde(default = "h")]
    pub h: u16,
    #[serde(default = "i")]
    pub i: bool,
}

fn a() -> i64 {
    1 << 10
}

fn b() -> i32 {
    1 << 31
}

fn c() -> u8 {
    0xff << 4
}

fn d() -> i32 {
    -16_i32 >> 2
}

fn e() -> u64 {
    u64::MAX << 63
}

fn f() -> u32 {
    1_u32 << 4_u8 | 3
}

fn g() -> i8 {
    0x55 & 0x0f
}

fn h() -> u16 {
    FLAGS ^ 0x00ff
}

fn i() -> bool {
    1 << 2 == 4
}

const FLAGS: u16 = 0x0ff0;
