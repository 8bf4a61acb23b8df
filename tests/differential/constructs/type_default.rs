//! A function of the type itself goes before the trait's; in a generic function the trait's is meant.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default)]
    pub own: Point,
    #[serde(default = "by_name")]
    pub by_name: Point,
    #[serde(default = "of_generic")]
    pub generic: Point,
    #[serde(default = "qualified")]
    pub qualified: Point,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Point {
    x: u8,
}

impl Point {
    #[allow(clippy::should_implement_trait)]
    pub fn default() -> Self {
        Self { x: 1 }
    }
}

impl Default for Point {
    fn default() -> Self {
        Self { x: 2 }
    }
}

fn by_name() -> Point {
    Point::default()
}

fn of_generic() -> Point {
    generic::<Point>()
}

fn generic<T: Default>() -> T {
    T::default()
}

fn qualified() -> Point {
    <Point as Default>::default()
}
