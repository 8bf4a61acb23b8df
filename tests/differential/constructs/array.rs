//! Fixed and as a slice.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "fixed")]
    pub fixed: [u8; 2],
    #[serde(default = "floats")]
    pub floats: Vec<f32>,
}

fn fixed() -> [u8; 2] {
    [1, 255]
}

fn floats() -> Vec<f32> {
    LIST.to_vec()
}

const LIST: [f32; 2] = [0.1, 2.0];
