//! What is given goes before the rest.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "point")]
    pub point: Point,
    #[serde(default = "other")]
    pub other: Point,
}

fn point() -> Point {
    Point { x: 1, ..Default::default() }
}

fn other() -> Point {
    Point { y: 2, ..Point::origin() }
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: u8,
    y: u8,
}

impl Point {
    fn origin() -> Self {
        Self { x: 7, y: 7 }
    }
}

impl Default for Point {
    fn default() -> Self {
        Self { x: 9, y: 9 }
    }
}
