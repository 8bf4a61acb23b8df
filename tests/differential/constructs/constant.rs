//! In its own type and its own module; one of a module is no other of the same name.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "ratio")]
    pub ratio: f32,
    #[serde(default = "limit")]
    pub limit: i64,
    #[serde(default = "inner")]
    pub inner: i64,
}

fn ratio() -> f32 {
    deep::RATIO
}

fn limit() -> i64 {
    LIMIT
}

fn inner() -> i64 {
    deep::limit()
}

const LIMIT: i64 = 5_000_000_000;

mod deep {
    pub const RATIO: f32 = 0.1;
    const LIMIT: i64 = 1;
    pub fn limit() -> i64 {
        LIMIT
    }
}
