//! Rounded in the type of the place, of constants, and the rest of a division.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "sum")]
    pub sum: f64,
    #[serde(default = "short")]
    pub short: f32,
    #[serde(default = "product")]
    pub product: f64,
    #[serde(default = "part")]
    pub part: f64,
    #[serde(default = "rest")]
    pub rest: f64,
    #[serde(default = "none")]
    pub none: f64,
}

fn sum() -> f64 {
    0.1 + 0.2
}

fn short() -> f32 {
    0.1 + 0.2
}

fn product() -> f64 {
    RATE * 3.0
}

fn part() -> f64 {
    1.0 / 3.0
}

fn rest() -> f64 {
    -7.5 % 2.0
}

fn none() -> f64 {
    0.3 - 0.1 - 0.2
}

const RATE: f64 = 1.1;
