//! On a statement, a tail, a field and an arm.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "point")]
    pub point: Point,
    #[serde(default = "arm")]
    pub arm: u8,
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

fn arm() -> u8 {
    match 1 {
        #[cfg(feature = "off")]
        1 => 7,
        1 => 8,
        _ => 9,
    }
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: u8,
}
