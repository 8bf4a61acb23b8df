//! Of each kind.

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
        let mut schema = schemars::json_schema!({ "type": "string" });
        schema.insert("nullable".to_owned(), serde_json::Value::Bool(true));
        schema.insert(
            "enum".to_owned(),
            serde_json::Value::Array(vec![
                serde_json::Value::String("a".into()),
                serde_json::Value::from("b"),
                serde_json::Value::Null,
            ]),
        );
        schema
    }
}
