//! An `Option` of an `Option`, and of a type that the place gives.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "nested")]
    pub nested: Option<Option<f32>>,
    #[serde(default = "inner")]
    pub inner: Option<Option<u8>>,
}

fn nested() -> Option<Option<f32>> {
    Some(Some(0.1))
}

fn inner() -> Option<Option<u8>> {
    Some(None)
}
