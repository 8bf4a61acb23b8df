//! Fields in another order than declared, shorthand, a raw name, a default of a default.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "point")]
    pub point: Point,
}

fn point() -> Point {
    let y: f32 = 0.1;
    Point { r#type: 1, y, x: None }
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: Option<Option<u8>>,
    y: f32,
    r#type: u8,
}
