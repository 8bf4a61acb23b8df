//! Out of a block, with what follows left alone.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "early")]
    pub early: u8,
    #[serde(default = "inner")]
    pub inner: u8,
}

fn early() -> u8 {
    if LIMIT > 1 {
        return 1;
    }
    2
}

fn inner() -> u8 {
    early_inner() + 1
}

const LIMIT: u8 = 5;

fn early_inner() -> u8 {
    return 7;
}
