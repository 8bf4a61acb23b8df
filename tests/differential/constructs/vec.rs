//! Nested, empty, and with a type that the place gives.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "nested")]
    pub nested: Vec<Vec<u8>>,
    #[serde(default = "options")]
    pub options: Vec<Option<f32>>,
}

fn nested() -> Vec<Vec<u8>> {
    vec![vec![1], vec![]]
}

fn options() -> Vec<Option<f32>> {
    vec![None, Some(0.1)]
}
