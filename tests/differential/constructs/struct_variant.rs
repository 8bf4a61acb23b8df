//! With a generic type behind it.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "mode")]
    pub mode: Mode,
}

fn mode() -> Mode {
    Mode::Named { size: Some(1), ratio: 0.1 }
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub enum Mode {
    Named { size: Option<u64>, ratio: f32 },
}
