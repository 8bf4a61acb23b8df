//! Of what the place says.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "number")]
    pub number: f32,
    #[serde(default = "list")]
    pub list: Option<Vec<u8>>,
    #[serde(default = "tuple")]
    pub tuple: Point,
}

fn number() -> f32 {
    Default::default()
}

fn list() -> Option<Vec<u8>> {
    Some(Default::default())
}

fn tuple() -> Point {
    Point { x: Default::default() }
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: std::collections::BTreeMap<String, u8>,
}
