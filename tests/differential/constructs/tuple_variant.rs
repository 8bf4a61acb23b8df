//! One value, and two.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "one")]
    pub one: Mode,
    #[serde(default = "two")]
    pub two: Mode,
}

fn one() -> Mode {
    Mode::One(String::from("a"))
}

fn two() -> Mode {
    Mode::Two(1, None)
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub enum Mode {
    One(String),
    Two(u8, Option<bool>),
}
