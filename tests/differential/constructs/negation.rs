//! Of a literal alone.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "literal")]
    pub literal: i64,
    #[serde(default = "float")]
    pub float: f32,
}

fn literal() -> i64 {
    -9_223_372_036_854_775_808
}

fn float() -> f32 {
    -0.0
}
