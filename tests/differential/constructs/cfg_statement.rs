//! On a statement, a tail and a field.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "point")]
    pub point: Point,
}

fn text() -> String {
    #[cfg(feature = "off")]
    {
        "off".to_owned()
    }
    #[cfg(not(feature = "off"))]
    {
        "not off".to_owned()
    }
}

fn point() -> Point {
    Point {
        #[cfg(feature = "on")]
        x: 1,
        #[cfg(not(feature = "on"))]
        x: 2,
    }
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: u8,
}
