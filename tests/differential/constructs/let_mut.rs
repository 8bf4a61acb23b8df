//! A copy that was made before does not change.

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
        let mut schema = schemars::json_schema!({ "type": "object" });
        schema.insert("description".to_owned(), "after".into());
        schema.insert("default".to_owned(), serde_json::json!({ "a": 1 }));
        schema
    }
}
