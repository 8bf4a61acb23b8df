//! A box is what is in it.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "boxed")]
    pub boxed: Box<f32>,
    #[serde(default = "inner")]
    pub inner: Option<Box<Point>>,
}

fn boxed() -> Box<f32> {
    Box::new(0.1)
}

fn inner() -> Option<Box<Point>> {
    Some(Box::new(Point { x: 1 }))
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: u8,
}
