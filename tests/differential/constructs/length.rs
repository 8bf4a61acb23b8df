//! In bytes.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "bytes")]
    pub bytes: usize,
    #[serde(default = "list")]
    pub list: usize,
}

fn bytes() -> usize {
    "é".len()
}

fn list() -> usize {
    vec![1_u8, 2, 3].len()
}
