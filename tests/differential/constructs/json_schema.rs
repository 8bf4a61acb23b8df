//! An `f32` is written as the `f64` that it is.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    pub made: Made,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Other {
    pub x: Option<i32>,
}

#[derive(serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Made;

impl schemars::JsonSchema for Made {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Made".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "maximum": RATIO, "minimum": -1, "description": concat!("a", "b") })
    }
}

const RATIO: f32 = 0.1;
