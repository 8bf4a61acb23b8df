//! Nothing states no default.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "nothing")]
    pub nothing: Option<u8>,
    #[serde(default = "list")]
    pub list: Vec<Option<u8>>,
}

fn nothing() -> Option<u8> {
    None
}

fn list() -> Vec<Option<u8>> {
    vec![None]
}
