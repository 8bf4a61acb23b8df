//! In bytes.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "bytes")]
    pub bytes: usize,
    #[serde(default = "left")]
    pub left: i32,
    #[serde(default = "list")]
    pub list: usize,
}

fn bytes() -> usize {
    "é".len()
}

fn left() -> i32 {
    63 - SUFFIX.len() as i32
}

fn list() -> usize {
    LIST.len()
}

const SUFFIX: &str = "-suffix";
const LIST: [u8; 3] = [1, 2, 3];
