//! A marked variant, a hand-written one within, an array.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default)]
    pub whole: Whole,
    #[serde(default)]
    pub mode: Mode,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, Default)]
pub struct Whole {
    mode: Mode,
    list: [f32; 2],
    inner: Inner,
    none: Option<u8>,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, Default)]
pub enum Mode {
    One,
    #[default]
    #[serde(rename = "second")]
    Two,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Inner(u8);

impl Default for Inner {
    fn default() -> Self {
        Self(7)
    }
}
