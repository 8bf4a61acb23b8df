//! To what the place says: a text, an `Option`, a value of JSON.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "option")]
    pub option: Option<String>,
    #[serde(default = "some")]
    pub some: Option<u8>,
    #[serde(default = "json")]
    pub json: serde_json::Value,
}

fn option() -> Option<String> {
    Some("a".into())
}

fn some() -> Option<u8> {
    7_u8.into()
}

fn json() -> serde_json::Value {
    RATIO.into()
}

const RATIO: f32 = 0.1;
