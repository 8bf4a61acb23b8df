//! The ends of types.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "low")]
    pub low: i64,
    #[serde(default = "high")]
    pub high: u64,
    #[serde(default = "less")]
    pub less: u16,
    #[serde(default = "small")]
    pub small: i8,
}

fn low() -> i64 {
    i64::MIN
}

fn high() -> u64 {
    u64::MAX
}

fn less() -> u16 {
    u16::MAX - 1
}

fn small() -> i8 {
    i8::MAX
}
