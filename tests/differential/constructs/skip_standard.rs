//! A trait with the same function does not hide that of std.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<u8>,
    #[serde(default = "some", skip_serializing_if = "Option::is_none")]
    pub some: Option<Option<u8>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<u8>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub map: std::collections::BTreeMap<String, u8>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flag: bool,
    #[serde(default = "on", skip_serializing_if = "std::ops::Not::not")]
    pub on: bool,
}

fn some() -> Option<Option<u8>> {
    Some(Some(1))
}

fn on() -> bool {
    true
}

#[allow(dead_code)]
trait Empty {
    fn is_empty(&self) -> bool;
}

impl<T> Empty for Vec<T> {
    fn is_empty(&self) -> bool {
        false
    }
}
