//! Types of k8s-openapi.

use k8s_openapi::api::core::v1::{self as core, Affinity, *};
use k8s_openapi::api::{apps, batch::v1 as batch, networking::v1::IngressRule};
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Small")]
pub struct SmallSpec {
    pub a: Option<ResourceRequirements>,
    pub b: Vec<meta::Condition>,
    pub c: Option<meta::Time>,
    pub d: meta::MicroTime,
    pub e: IntOrString,
    pub f: Option<IntOrString>,
    pub g: k8s_openapi::apimachinery::pkg::api::resource::Quantity,
    pub h: Option<k8s_openapi::apimachinery::pkg::api::resource::Quantity>,
    pub i: meta::LabelSelector,
    pub j: Option<meta::ObjectMeta>,
    pub k: LocalObjectReference,
    pub l: Vec<EnvVar>,
    pub m: Option<Vec<Toleration>>,
    pub n: Option<Affinity>,
    pub o: core::SecretKeySelector,
    pub p: IngressRule,
    pub q: Vec<Option<IntOrString>>,
    pub r: std::collections::BTreeMap<String, IntOrString>,
    /// A documented one.
    pub s: Option<core::Volume>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Pods")]
pub struct PodsSpec {
    pub template: core::PodTemplateSpec,
    /// Claims.
    pub claims: Vec<PersistentVolumeClaim>,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "Workloads")]
pub struct WorkloadsSpec {
    pub deployment: apps::v1::DeploymentSpec,
    pub job: Option<batch::JobSpec>,
    pub raw: Option<k8s_openapi::apimachinery::pkg::runtime::RawExtension>,
    pub strategy: apps::v1::DeploymentStrategy,
}

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(
    group = "kubernetes.example.com",
    version = "v1",
    kind = "Policies",
    status = "k8s_openapi::api::core::v1::PodStatus"
)]
pub struct PoliciesSpec {
    pub a: Vec<k8s_openapi::api::rbac::v1::PolicyRule>,
    pub b: k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscalerSpec,
    pub c: k8s_openapi::api::policy::v1::PodDisruptionBudgetSpec,
}
