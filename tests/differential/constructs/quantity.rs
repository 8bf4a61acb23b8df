//! As serde writes it.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "quantity")]
    pub quantity: Quantity,
}

fn quantity() -> Quantity {
    Quantity("100m".to_owned())
}

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
