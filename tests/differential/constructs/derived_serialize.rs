//! Renames, flatten, skips, transparent types, variants.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "whole")]
    pub whole: Whole,
    #[serde(default = "tagged")]
    pub tagged: Vec<Tagged>,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Whole {
    first_one: u8,
    #[serde(flatten)]
    inner: Inner,
    #[serde(skip_serializing)]
    hidden: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    none: Option<u8>,
    wrapped: Wrapped,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Inner {
    #[serde(rename(serialize = "out", deserialize = "in"))]
    renamed: u8,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
#[serde(transparent)]
pub struct Wrapped {
    inner: Option<String>,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
#[serde(untagged)]
pub enum Tagged {
    Number(f32),
    Named { name: String },
}

fn whole() -> Whole {
    Whole {
        first_one: 1,
        inner: Inner { renamed: 2 },
        hidden: 3,
        none: None,
        wrapped: Wrapped { inner: Some("w".into()) },
    }
}

fn tagged() -> Vec<Tagged> {
    vec![Tagged::Number(0.1), Tagged::Named { name: "n".into() }]
}
