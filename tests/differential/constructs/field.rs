//! Of a struct within a struct, by name.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "is_off")]
    pub config: Config,
}

#[derive(
    schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq, Default,
)]
pub struct Config {
    inner: Inner,
    timeout: u64,
}

#[derive(
    schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq, Default,
)]
pub struct Inner {
    level: Option<u8>,
}

fn is_off(config: &Config) -> bool {
    config.inner.level.is_none() && config.timeout == 1
}
