//! What it binds hides a constant only inside.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "found")]
    pub found: u8,
    #[serde(default = "missing")]
    pub missing: u8,
}

fn found() -> u8 {
    if let Some(limit) = Some(3_u8) { limit + LIMIT } else { LIMIT }
}

fn missing() -> u8 {
    if let Some(LIMIT) = Some(3_u8) { 1 } else { 2 }
}

const LIMIT: u8 = 5;
