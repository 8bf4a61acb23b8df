//! A feature that is on, one that is off.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "on")]
    pub on: bool,
    #[serde(default = "off")]
    pub off: bool,
}

fn on() -> bool {
    cfg!(feature = "on")
}

fn off() -> bool {
    cfg!(any(feature = "off", not(feature = "on")))
}
