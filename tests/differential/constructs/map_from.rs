//! The last of two equal keys counts.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "map")]
    pub map: std::collections::BTreeMap<String, f32>,
}

fn map() -> std::collections::BTreeMap<String, f32> {
    std::collections::BTreeMap::from([("a".into(), 1.5), ("b".into(), 2.0), ("a".into(), 0.1)])
}
