//! To what the place says: a longer number, a text, an `Option`, a value of JSON.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "long")]
    pub long: i64,
    #[serde(default = "wide")]
    pub wide: f64,
    #[serde(default = "option")]
    pub option: Option<String>,
    #[serde(default = "some")]
    pub some: Option<u8>,
    #[serde(default = "json")]
    pub json: serde_json::Value,
    #[serde(default = "default")]
    pub default: i64,
}

fn long() -> i64 {
    LIMIT.into()
}

fn wide() -> f64 {
    RATIO.into()
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

fn default() -> i64 {
    5.into()
}

const LIMIT: u32 = 4_000_000_000;
const RATIO: f32 = 0.1;
