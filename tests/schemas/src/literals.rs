//! Default values that are structs of k8s-openapi.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{self as core, Affinity, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "literals.example.com", version = "v1", kind = "Literals")]
pub struct LiteralsSpec {
    #[serde(default = "resources")]
    resources: ResourceRequirements,
    #[serde(default = "affinity")]
    affinity: Option<Affinity>,
    #[serde(default = "ports")]
    ports: Vec<core::ServicePort>,
    #[serde(default = "pod")]
    pod: core::Pod,
    #[serde(default)]
    inner: Inner,
    #[serde(default = "core::Probe::default")]
    probe: core::Probe,
}

fn resources() -> ResourceRequirements {
    ResourceRequirements {
        limits: Some(BTreeMap::from([
            ("memory".to_string(), Quantity("1Gi".to_string())),
            ("cpu".into(), Quantity("500m".into())),
        ])),
        requests: None,
        ..Default::default()
    }
}

fn affinity() -> Option<Affinity> {
    Some(Affinity {
        node_affinity: None,
        pod_affinity: None,
        pod_anti_affinity: Some(core::PodAntiAffinity {
            preferred_during_scheduling_ignored_during_execution: Some(vec![
                core::WeightedPodAffinityTerm {
                    weight: 100,
                    pod_affinity_term: core::PodAffinityTerm {
                        topology_key: "kubernetes.io/hostname".to_string(),
                        label_selector: Some(LabelSelector {
                            match_labels: Some(BTreeMap::from([(
                                "app".to_owned(),
                                "x".to_owned(),
                            )])),
                            ..LabelSelector::default()
                        }),
                        ..Default::default()
                    },
                },
            ]),
            ..Default::default()
        }),
    })
}

fn ports() -> Vec<core::ServicePort> {
    vec![port(80), core::ServicePort { name: Some("tls".into()), ..port(443) }]
}

fn port(port: i32) -> core::ServicePort {
    core::ServicePort { port, target_port: Some(IntOrString::Int(port)), ..Default::default() }
}

fn pod() -> core::Pod {
    core::Pod {
        metadata: ObjectMeta { name: Some("x".to_string()), ..Default::default() },
        ..Default::default()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Inner {
    toleration: core::Toleration,
    secret: Option<core::Secret>,
}

impl Default for Inner {
    fn default() -> Self {
        let toleration = core::Toleration {
            key: Some("a".to_string()),
            toleration_seconds: Some(5),
            ..Default::default()
        };
        Self { toleration, secret: None }
    }
}
