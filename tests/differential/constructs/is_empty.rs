//! Of a list within a struct.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "Status::is_empty")]
    pub status: Status,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, Default)]
pub struct Status {
    list: Vec<u8>,
    text: String,
    map: std::collections::BTreeMap<String, u8>,
}

impl Status {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.text.is_empty() && self.map.is_empty()
    }
}
