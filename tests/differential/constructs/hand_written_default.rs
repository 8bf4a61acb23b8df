//! Of a generic type, for one of its arguments.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default)]
    pub small: Page<u8>,
    #[serde(default)]
    pub large: Page<String>,
}

#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
pub struct Page<T> {
    items: Vec<T>,
    size: u16,
}

impl Default for Page<u8> {
    fn default() -> Self {
        Self { items: vec![1], size: 1 }
    }
}

impl Default for Page<String> {
    fn default() -> Self {
        Self { items: vec!["a".to_owned()], size: 2 }
    }
}
