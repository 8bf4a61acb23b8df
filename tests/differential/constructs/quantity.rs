//! As serde writes them.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "quantity")]
    pub quantity: Quantity,
    #[serde(default = "number")]
    pub number: IntOrString,
    #[serde(default = "text")]
    pub text: IntOrString,
}

fn quantity() -> Quantity {
    Quantity("100m".to_owned())
}

fn number() -> IntOrString {
    IntOrString::Int(80)
}

fn text() -> IntOrString {
    IntOrString::String("http".into())
}

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
