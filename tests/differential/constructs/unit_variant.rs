//! By its serialized name, imported and by `Self`.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "fast")]
    pub fast: Mode,
    #[serde(default = "slow")]
    pub slow: Mode,
    #[serde(default = "own")]
    pub own: Mode,
}

fn fast() -> Mode {
    Mode::VeryFast
}

fn slow() -> Mode {
    SlowOne
}

fn own() -> Mode {
    Mode::own()
}

use self::Mode::SlowOne;

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    VeryFast,
    #[serde(rename = "slow")]
    SlowOne,
}

impl Mode {
    fn own() -> Self {
        Self::VeryFast
    }
}
