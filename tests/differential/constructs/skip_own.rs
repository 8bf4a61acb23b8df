//! A free function, and one of the type, that take the value itself.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "five", skip_serializing_if = "is_five")]
    pub five: u8,
    #[serde(default, skip_serializing_if = "Mode::is_plain")]
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "deep::is_zero")]
    pub zero: i64,
}

fn five() -> u8 {
    5
}

fn is_five(value: &u8) -> bool {
    value == &5
}

#[derive(
    schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq, Default,
)]
pub enum Mode {
    #[default]
    Plain,
    Other,
}

impl Mode {
    fn is_plain(&self) -> bool {
        self == &Self::Plain
    }
}

mod deep {
    pub fn is_zero(value: &i64) -> bool {
        value == &super::ZERO
    }
}

const ZERO: i64 = 1;
