//! Numbers, texts, an `Option`, and a type with type parameters.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zero: i64,
    #[serde(default = "five", skip_serializing_if = "is_zero")]
    pub five: i64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: Mode,
    #[serde(default = "other", skip_serializing_if = "is_default")]
    pub other: Mode,
    #[serde(default, skip_serializing_if = "is_default")]
    pub text: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub option: Option<u8>,
    #[serde(default, skip_serializing_if = "is_half")]
    pub float: f64,
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}

fn five() -> i64 {
    5
}

fn is_half(value: &f64) -> bool {
    *value == 0.5
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(
    schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq, Default,
)]
pub enum Mode {
    #[default]
    Plain,
    Other,
}

fn other() -> Mode {
    Mode::Other
}
