//! What is not needed is not evaluated.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "and")]
    pub and: bool,
    #[serde(default = "or")]
    pub or: bool,
}

fn and() -> bool {
    false && std::env::args().count() > 0
}

fn or() -> bool {
    true || std::env::args().count() > 0
}
