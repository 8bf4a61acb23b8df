//! With a variant.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "is_plain")]
    pub mode: Mode,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, Default)]
pub enum Mode {
    #[default]
    Plain,
    Other,
}

fn is_plain(mode: &Mode) -> bool {
    matches!(mode, Mode::Plain)
}
