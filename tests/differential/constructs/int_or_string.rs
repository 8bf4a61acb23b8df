//! A number and a name.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "a")]
    pub a: IntOrString,
    #[serde(default = "b")]
    pub b: Option<IntOrString>,
}

fn a() -> IntOrString {
    IntOrString::Int(80)
}

fn b() -> Option<IntOrString> {
    Some(IntOrString::String("http".to_string()))
}
