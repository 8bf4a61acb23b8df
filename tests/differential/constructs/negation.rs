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
    #[serde(default = "constant")]
    pub constant: i64,
    #[serde(default = "product")]
    pub product: f64,
}

fn literal() -> i64 {
    -9_223_372_036_854_775_808
}

fn float() -> f32 {
    -0.0
}

fn constant() -> i64 {
    -LIMIT
}

fn product() -> f64 {
    -(RATE * 2.0)
}

const LIMIT: i64 = 5;

const RATE: f64 = 1.1;
