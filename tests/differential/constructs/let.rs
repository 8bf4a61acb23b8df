//! Each says its type; a later `let` hides an earlier one; the block ends it.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "shadowed")]
    pub shadowed: u8,
    #[serde(default = "ratio")]
    pub ratio: f32,
}

fn shadowed() -> u8 {
    let x: u8 = 1;
    let y = {
        let x = x + 1;
        x
    };
    let x: u8 = 10;
    x + y
}

fn ratio() -> f32 {
    let ratio: f32 = 0.1;
    ratio
}
