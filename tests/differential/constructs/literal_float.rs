//! Rounded once, and printed as serde_json prints the type.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "narrow")]
    pub narrow: f32,
    #[serde(default = "wide")]
    pub wide: f64,
    #[serde(default = "halfway")]
    pub halfway: f32,
    #[serde(default = "suffixed")]
    pub suffixed: f64,
    #[serde(default = "tiny")]
    pub tiny: f32,
}

fn narrow() -> f32 {
    0.1
}

fn wide() -> f64 {
    0.1
}

fn halfway() -> f32 {
    16777217.0
}

fn suffixed() -> f64 {
    1f64
}

fn tiny() -> f32 {
    1e-45
}
