//! Bits are cut off, floats saturate and truncate.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "cut")]
    pub cut: u8,
    #[serde(default = "signed")]
    pub signed: i8,
    #[serde(default = "literal")]
    pub literal: u64,
    #[serde(default = "float")]
    pub float: u8,
    #[serde(default = "rounded")]
    pub rounded: f32,
    #[serde(default = "narrowed")]
    pub narrowed: f64,
}

fn cut() -> u8 {
    LARGE as u8
}

fn signed() -> i8 {
    255_u8 as i8
}

fn literal() -> u64 {
    3_000_000_000 as u64
}

fn float() -> u8 {
    300.7 as u8
}

fn rounded() -> f32 {
    16_777_217 as f32
}

fn narrowed() -> f64 {
    0.1_f64 as f32 as f64
}

const LARGE: u32 = 0x1_ff;
