//! Of an `Option` in an `Option`.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "some", skip_serializing_if = "is_unset")]
    pub value: Option<Option<u8>>,
}

fn some() -> Option<Option<u8>> {
    Some(None)
}

fn is_unset(value: &Option<Option<u8>>) -> bool {
    value.is_none()
}
