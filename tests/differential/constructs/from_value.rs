//! In the type that the function returns.

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
        serde_json::from_value(
            serde_json::json!({ "type": "integer", "maximum": LIMIT, "minimum": -1 }),
        )
        .unwrap()
    }
}

const LIMIT: u64 = 18_446_744_073_709_551_615;
