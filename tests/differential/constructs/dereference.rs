//! Of a scalar that a function is given.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "is_default")]
    pub left_out: u64,
    #[serde(default = "one", skip_serializing_if = "is_default")]
    pub stays: u64,
}

const DEFAULT: u64 = 0;

fn one() -> u64 {
    1
}

fn is_default(value: &u64) -> bool {
    *value == DEFAULT
}
