//! The type is that of the field.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default, skip_serializing_if = "is_default")]
    pub left_out: Option<Vec<u8>>,
    #[serde(default = "some", skip_serializing_if = "is_default")]
    pub stays: Option<f32>,
    #[serde(default = "one", skip_serializing_if = "is_first")]
    pub first: Vec<u8>,
}

fn some() -> Option<f32> {
    Some(0.1)
}

fn one() -> Vec<u8> {
    vec![1]
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    value == &T::default()
}

fn is_first<T: Default + PartialEq>(value: &Vec<T>) -> bool {
    value.is_empty()
}
