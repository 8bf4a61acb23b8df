//! Of numbers, and of texts by their bytes.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "numbers")]
    pub numbers: bool,
    #[serde(default = "floats")]
    pub floats: bool,
    #[serde(default = "texts")]
    pub texts: bool,
    #[serde(default = "limit")]
    pub limit: bool,
    #[serde(default = "equal")]
    pub equal: bool,
}

fn numbers() -> bool {
    2 < 10
}

fn floats() -> bool {
    0.1 + 0.2 > 0.3
}

fn texts() -> bool {
    "10" < "2"
}

fn limit() -> bool {
    LIMIT >= 5
}

fn equal() -> bool {
    LIMIT <= 4
}

const LIMIT: u8 = 5;
