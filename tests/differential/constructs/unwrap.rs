//! Of `Some`, with `expect`, with an alternative that is not evaluated.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "some")]
    pub some: u8,
    #[serde(default = "expected")]
    pub expected: u8,
    #[serde(default = "or")]
    pub or: u8,
}

fn some() -> u8 {
    Some(5).unwrap()
}

fn expected() -> u8 {
    Some(5).expect("a number")
}

fn or() -> u8 {
    Some(5).unwrap_or(6)
}
