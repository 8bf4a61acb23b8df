//! Numbers of every type, keys that repeat, a value that is computed.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "anything")]
    pub anything: serde_json::Value,
}

const RATIO: f32 = 0.1;
const KEY: &str = "key";

fn anything() -> serde_json::Value {
    serde_json::json!({
        "a": 1,
        "a": -1,
        "float": 1.0,
        "ratio": RATIO,
        KEY: [null, true, "x", { "nested": 18_446_744_073_709_551_615_u64 }],
        "sum": 1 + 2,
        "list": vec![Some(1), None],
    })
}
