//! Of a literal, a constant, and twice.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "literal")]
    pub literal: i64,
    #[serde(default = "constant")]
    pub constant: i32,
    #[serde(default = "twice")]
    pub twice: i16,
    #[serde(default = "float")]
    pub float: f32,
}

fn literal() -> i64 {
    -9_223_372_036_854_775_808
}

fn constant() -> i32 {
    -LIMIT
}

fn twice() -> i16 {
    --3
}

fn float() -> f32 {
    -0.0
}

const LIMIT: i32 = 5;
