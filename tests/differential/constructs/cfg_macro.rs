//! Of features that are on and off, alone and together.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "on")]
    pub on: bool,
    #[serde(default = "off")]
    pub off: bool,
    #[serde(default = "all")]
    pub all: u8,
}

fn on() -> bool {
    cfg!(feature = "on")
}

fn off() -> bool {
    cfg!(feature = "off")
}

fn all() -> u8 {
    if cfg!(all(feature = "on", not(feature = "off"))) { 1 } else { 2 }
}
