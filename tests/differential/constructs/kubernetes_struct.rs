//! What is left to its default is left out; a box within.

#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "constructs.example.com", version = "v1", kind = "Case")]
pub struct CaseSpec {
    #[serde(default = "resources")]
    pub resources: k8s_openapi::api::core::v1::ResourceRequirements,
    #[serde(default = "port")]
    pub port: k8s_openapi::api::core::v1::ContainerPort,
}

fn resources() -> k8s_openapi::api::core::v1::ResourceRequirements {
    k8s_openapi::api::core::v1::ResourceRequirements {
        limits: Some(std::collections::BTreeMap::from([(
            "cpu".into(),
            k8s_openapi::apimachinery::pkg::api::resource::Quantity("1".into()),
        )])),
        ..Default::default()
    }
}

fn port() -> k8s_openapi::api::core::v1::ContainerPort {
    k8s_openapi::api::core::v1::ContainerPort {
        container_port: 80,
        name: Some("http".into()),
        ..Default::default()
    }
}
