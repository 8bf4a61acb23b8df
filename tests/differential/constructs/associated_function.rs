//! Of a type, of `Self`, of one with the same name elsewhere.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "made")]
    pub made: Point,
}

fn made() -> Point {
    Point::new(3)
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: u8,
}

impl Point {
    fn new(x: u8) -> Self {
        Self { x: Self::twice(x) }
    }
    fn twice(x: u8) -> u8 {
        x * 2
    }
}

#[allow(dead_code)]
mod other {
    pub struct Point;
    impl Point {
        pub fn twice(x: u8) -> u8 {
            x * 3
        }
    }
}
