//! With alternatives, a constant among them, and a variant.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "odd", skip_serializing_if = "is_odd")]
    pub left_out: u8,
    #[serde(default, skip_serializing_if = "is_odd")]
    pub stays: u8,
    #[serde(default, skip_serializing_if = "is_plain")]
    pub mode: Mode,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, Default)]
pub enum Mode {
    #[default]
    Plain,
    Other,
}

const ODD: u8 = 3;

fn odd() -> u8 {
    3
}

fn is_odd(value: &u8) -> bool {
    matches!(*value, 1 | ODD)
}

fn is_plain(mode: &Mode) -> bool {
    matches!(mode, Mode::Plain)
}
