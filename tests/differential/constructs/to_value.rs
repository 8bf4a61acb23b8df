//! Of a schema and of an `f32`.

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
        let inner = serde_json::to_value(generator.subschema_for::<Other>())
            .unwrap_or_else(|_| panic!("no schema"));
        schemars::json_schema!({ "type": "object", "properties": { "inner": inner }, "default": serde_json::to_value(RATIO).unwrap() })
    }
}

const RATIO: f32 = 0.1;
