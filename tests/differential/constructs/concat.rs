//! Literals of every kind but floats.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "text_of")]
    pub text_of: String,
}

fn text() -> String {
    concat!("v", 1, 'c', true).to_owned()
}

fn text_of() -> String {
    TEXT.to_owned()
}

const TEXT: &str = concat!("a", "b");
