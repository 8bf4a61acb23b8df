//! Beyond 32 bits in a type that has them.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "shifted")]
    pub shifted: u64,
    #[serde(default = "small")]
    pub small: u8,
}

fn shifted() -> u64 {
    1 << 40
}

fn small() -> u8 {
    1_u8 << 7
}
