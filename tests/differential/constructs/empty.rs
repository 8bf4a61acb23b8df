//! Of every kind that is common.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "String::new")]
    pub by_path: String,
    #[serde(default = "Vec::<i32>::new")]
    pub list_by_path: Vec<i32>,
    #[serde(default = "text")]
    pub text: String,
    #[serde(default = "list")]
    pub list: Vec<u8>,
    #[serde(default = "map")]
    pub map: std::collections::BTreeMap<String, u8>,
    #[serde(default = "hashed")]
    pub hashed: std::collections::HashMap<String, u8>,
}

fn text() -> String {
    String::new()
}

fn list() -> Vec<u8> {
    Vec::new()
}

fn map() -> std::collections::BTreeMap<String, u8> {
    std::collections::BTreeMap::new()
}

fn hashed() -> std::collections::HashMap<String, u8> {
    std::collections::HashMap::new()
}
