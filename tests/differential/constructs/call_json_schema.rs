//! By a path, by `<T>`, by a function with a parameter.

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
        let text = String::json_schema(generator);
        let map = std::collections::BTreeMap::<String, u8>::json_schema(generator);
        schemars::json_schema!({ "type": "object", "properties": { "text": text, "map": map, "option": <Option<Other>>::json_schema(generator), "list": of::<Other>(generator) } })
    }
}

use schemars::JsonSchema as _;

fn of<T: schemars::JsonSchema>(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "array", "items": T::json_schema(generator) })
}
