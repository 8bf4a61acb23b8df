//! A `char` is written as a text.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "letter")]
    pub letter: char,
    #[serde(default = "quote")]
    pub quote: char,
}

fn letter() -> char {
    'é'
}

fn quote() -> char {
    '\''
}
