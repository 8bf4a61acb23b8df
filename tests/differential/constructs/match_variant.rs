//! With bindings that hide what is outside.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "unit")]
    pub unit: u8,
    #[serde(default = "tuple")]
    pub tuple: u8,
    #[serde(default = "named")]
    pub named: u8,
}

fn unit() -> u8 {
    size(Mode::Plain)
}

fn tuple() -> u8 {
    size(Mode::Sized(3))
}

fn named() -> u8 {
    size(Mode::Named { size: 4, other: 1 })
}

enum Mode {
    Plain,
    Sized(u8),
    Named { size: u8, other: u8 },
}

fn size(mode: Mode) -> u8 {
    let size = 9;
    match mode {
        Mode::Plain => size,
        Mode::Sized(size) => size,
        Mode::Named { size, other: more } => size + more,
    }
}
