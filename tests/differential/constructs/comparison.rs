//! Numbers without a type, texts by their bytes, derived `PartialEq`, a nested `Option`.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "numbers")]
    pub numbers: bool,
    #[serde(default = "texts")]
    pub texts: bool,
    #[serde(default = "limit")]
    pub limit: bool,
    #[serde(default = "shapes")]
    pub shapes: bool,
}

fn numbers() -> bool {
    2 == 10
}

fn texts() -> bool {
    "10" != "2"
}

fn limit() -> bool {
    LIMIT == 5
}

fn shapes() -> bool {
    Shape::Round(1) == Shape::Round(1)
}

const LIMIT: u8 = 5;

#[derive(PartialEq)]
enum Shape {
    Round(u8),
}
