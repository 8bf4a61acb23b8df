//! A `bool`, and one in an `Option`.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "yes")]
    pub yes: bool,
    #[serde(default = "maybe")]
    pub maybe: Option<bool>,
}

fn yes() -> bool {
    true
}

fn maybe() -> Option<bool> {
    Some(false)
}
