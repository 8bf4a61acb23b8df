//! With a variant, several of them, and literals.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "is_plain")]
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "is_named")]
    pub named: Mode,
    #[serde(default, skip_serializing_if = "is_small")]
    pub size: u8,
    #[serde(default, skip_serializing_if = "is_off")]
    pub off: bool,
    #[serde(default, skip_serializing_if = "is_word")]
    pub word: String,
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

fn is_named(mode: &Mode) -> bool {
    matches!(*mode, Mode::Other | Mode::Plain)
}

fn is_small(size: &u8) -> bool {
    matches!(size, 1 | 2)
}

fn is_off(value: &bool) -> bool {
    matches!(*value, false)
}

fn is_word(word: &String) -> bool {
    matches!(word.as_str(), "" | "none")
}
