//! Of what derives it.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "list")]
    pub list: Vec<Point>,
}

fn list() -> Vec<Point> {
    let list = vec![Point { x: 1 }];
    list.clone()
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: u8,
}
