//! In seconds, in milliseconds, and as kube writes it.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "secs")]
    pub secs: std::time::Duration,
    #[serde(default = "millis")]
    pub millis: std::time::Duration,
    #[serde(default = "kube")]
    pub kube: kube::core::Duration,
}

fn secs() -> std::time::Duration {
    std::time::Duration::from_secs(90)
}

fn millis() -> std::time::Duration {
    std::time::Duration::from_millis(1_500)
}

fn kube() -> kube::core::Duration {
    std::time::Duration::from_secs(90).into()
}
