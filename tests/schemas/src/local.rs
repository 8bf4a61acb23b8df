//! Functions that import what they use in themselves.

use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "local.example.com", version = "v1", kind = "Local")]
pub struct LocalSpec {
    #[serde(default = "resources")]
    pub resources: k8s_openapi::api::core::v1::ResourceRequirements,
    #[serde(default = "levels")]
    pub levels: Vec<Level>,
    #[serde(default = "shadowed")]
    pub shadowed: Vec<String>,
    #[serde(default = "constants")]
    pub constants: Vec<u16>,
    #[serde(default)]
    pub whole: Whole,
    #[schemars(schema_with = "by_hand")]
    pub by_hand: i32,
}

fn resources() -> k8s_openapi::api::core::v1::ResourceRequirements {
    use k8s_openapi::{api::core::v1::ResourceRequirements, apimachinery::pkg::api::resource::Quantity};
    ResourceRequirements {
        requests: Some([("cpu".to_string(), Quantity("1".to_string()))].into()),
        limits: Some(vec![("cpu".to_string(), Quantity("2".to_string()))].into_iter().collect()),
        ..ResourceRequirements::default()
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
pub enum Level {
    Info,
    Debug,
    Other,
}

fn levels() -> Vec<Level> {
    #[allow(unused_imports)]
    use Level::{Debug, Info as Quiet};
    let turn = |it: &Level| match it {
        Quiet => Debug,
        Debug => Quiet,
        _ => Level::Other,
    };
    vec![turn(&Level::Debug), turn(&Quiet), turn(&Level::Other), Debug]
}

pub struct Name;

impl Name {
    const IT: &str = "outer";
}

mod inner {
    pub struct Name;

    impl Name {
        pub const IT: &str = "inner";
    }

    pub mod ports {
        pub const HTTP: u16 = 80;
        pub const HTTPS: u16 = 443;

        pub fn more(it: u16) -> u16 {
            it + 1
        }
    }
}

fn shadowed() -> Vec<String> {
    let before = Name::IT;
    let inside = {
        use inner::Name;
        format!("{}-{}", Name::IT, <Name>::IT)
    };
    vec![before.to_string(), inside, Name::IT.into()]
}

fn constants() -> Vec<u16> {
    use inner::ports::{self, HTTPS, more};
    match 443 {
        HTTPS => vec![ports::HTTP, HTTPS, inner::ports::HTTP, self::inner::ports::more(HTTPS)],
        other => {
            let far = more(other);
            vec![far]
        }
    }
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
pub struct Whole {
    pub text: String,
    pub map: std::collections::BTreeMap<String, i32>,
}

impl Default for Whole {
    fn default() -> Self {
        use std::collections::BTreeMap;
        use std::fmt::Write as _;
        let mut text = String::new();
        write!(text, "a{}", 1).unwrap();
        Self { text, map: BTreeMap::from([("a".to_owned(), 1)]) }
    }
}

fn by_hand(_: &mut SchemaGenerator) -> Schema {
    use schemars::json_schema as made;
    use serde_json::{Value, json};
    let mut res = made!({ "type": "integer" });
    res.insert("enum".to_owned(), json!([1, 2]));
    res.insert("format".to_owned(), Value::String("int32".to_owned()));
    res
}
