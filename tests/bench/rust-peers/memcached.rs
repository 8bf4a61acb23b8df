//! What both operators share: the kind, the desired Deployment and the status, as in the scaffold.
//! Each crate includes this file, because the two depend on different versions of kube.

use k8s_openapi::{
    api::{apps::v1 as appsv1, core::v1 as corev1},
    apimachinery::pkg::apis::meta::v1 as metav1,
};
use kube::{CustomResource, ResourceExt as _};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

// The same allocator as in the scaffold.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

pub const MANAGER: &str = "memcached-operator";
pub const OWNER: &str = "cache.example.com/memcached";
pub const SELECTOR: &str = "app.kubernetes.io/managed-by=memcached-operator";

#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    plural = "memcacheds",
    namespaced,
    status = "MemcachedStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {
    pub size: i32,
    pub container_port: i32,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedStatus {
    pub observed_generation: Option<i64>,
    #[serde(default)]
    pub ready_replicas: i32,
    #[serde(default)]
    pub selector: String,
    #[serde(default)]
    pub nodes: Vec<String>,
    #[serde(default)]
    pub conditions: Vec<metav1::Condition>,
}

impl MemcachedStatus {
    pub fn is_available(&self) -> bool {
        self.conditions
            .iter()
            .any(|condition| condition.type_ == "Available" && condition.status == "True")
    }
}

fn labels_for(name: &str) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("app.kubernetes.io/name".into(), "memcached".into()),
        ("app.kubernetes.io/part-of".into(), "cache".into()),
        ("app.kubernetes.io/managed-by".into(), MANAGER.into()),
        ("app.kubernetes.io/instance".into(), name.into()),
    ])
}

/// The selector of the pods of one Memcached.
pub fn selector_for(name: &str) -> String {
    labels_for(name)
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect::<Vec<_>>()
        .join(",")
}

pub fn deployment_for(
    memcached: &Memcached,
    image: &str,
    owner: metav1::OwnerReference,
) -> appsv1::Deployment {
    let labels = labels_for(&memcached.name_any());
    let container = corev1::Container {
        name: "memcached".into(),
        image: Some(image.into()),
        ports: Some(vec![corev1::ContainerPort {
            container_port: memcached.spec.container_port,
            ..Default::default()
        }]),
        security_context: Some(corev1::SecurityContext {
            allow_privilege_escalation: Some(false),
            read_only_root_filesystem: Some(true),
            capabilities: Some(corev1::Capabilities {
                drop: Some(vec!["ALL".into()]),
                ..Default::default()
            }),
            ..Default::default()
        }),
        volume_mounts: Some(vec![corev1::VolumeMount {
            name: "tmp".into(),
            mount_path: "/tmp".into(),
            ..Default::default()
        }]),
        ..Default::default()
    };
    let pod = corev1::PodSpec {
        containers: vec![container],
        security_context: Some(corev1::PodSecurityContext {
            run_as_non_root: Some(true),
            run_as_user: Some(1001),
            seccomp_profile: Some(corev1::SeccompProfile {
                type_: "RuntimeDefault".into(),
                ..Default::default()
            }),
            ..Default::default()
        }),
        volumes: Some(vec![corev1::Volume {
            name: "tmp".into(),
            empty_dir: Some(corev1::EmptyDirVolumeSource::default()),
            ..Default::default()
        }]),
        ..Default::default()
    };
    let template = corev1::PodTemplateSpec {
        metadata: Some(metav1::ObjectMeta {
            labels: Some(labels.clone()),
            annotations: Some(BTreeMap::from([(OWNER.into(), memcached.name_any())])),
            ..Default::default()
        }),
        spec: Some(pod),
    };
    appsv1::Deployment {
        metadata: metav1::ObjectMeta {
            name: memcached.metadata.name.clone(),
            namespace: memcached.metadata.namespace.clone(),
            labels: Some(labels.clone()),
            owner_references: Some(vec![owner]),
            ..Default::default()
        },
        spec: Some(appsv1::DeploymentSpec {
            replicas: Some(memcached.spec.size),
            selector: metav1::LabelSelector { match_labels: Some(labels), ..Default::default() },
            template,
            ..Default::default()
        }),
        ..Default::default()
    }
}

pub fn status_for(
    memcached: &Memcached,
    deployment: &appsv1::Deployment,
    pods: Vec<String>,
) -> MemcachedStatus {
    let (size, generation) = (memcached.spec.size, memcached.metadata.generation);
    let observed = deployment.status.clone().unwrap_or_default();
    let is_current = observed.observed_generation >= deployment.metadata.generation;
    let ready = observed.ready_replicas.unwrap_or(0);
    let is_available = is_current && ready >= size;
    let is_settled = is_available
        && observed.updated_replicas.unwrap_or(0) == size
        && observed.replicas.unwrap_or(0) == size;
    let mut status = memcached.status.clone().unwrap_or_default();
    status.observed_generation = generation;
    status.ready_replicas = ready;
    status.selector = selector_for(&memcached.name_any());
    status.nodes = if is_settled {
        pods
    } else {
        status.nodes.into_iter().filter(|name| pods.contains(name)).collect()
    };
    let message = format!("{ready} of {size} pods are ready");
    let mut set = |type_: &str, value: bool, reason: &str, message: &str| {
        set_condition(&mut status.conditions, generation, type_, value, reason, message)
    };
    set(
        "Available",
        is_available,
        if is_available { "PodsReady" } else { "PodsNotReady" },
        &message,
    );
    set(
        "Progressing",
        !is_settled,
        if is_settled { "RolloutComplete" } else { "RolloutInProgress" },
        &message,
    );
    set("Degraded", false, "AsExpected", "");
    status
}

/// Sets a condition; the time of its transition is kept where its status does not change.
fn set_condition(
    conditions: &mut Vec<metav1::Condition>,
    generation: Option<i64>,
    type_: &str,
    value: bool,
    reason: &str,
    message: &str,
) {
    let status = if value { "True" } else { "False" };
    let existing = conditions.iter().position(|condition| condition.type_ == type_);
    let since =
        existing.map(|index| &conditions[index]).filter(|condition| condition.status == status);
    let condition = metav1::Condition {
        type_: type_.into(),
        status: status.into(),
        reason: reason.into(),
        message: message.into(),
        observed_generation: generation,
        last_transition_time: since.map_or_else(
            || metav1::Time(k8s_openapi::jiff::Timestamp::now()),
            |condition| condition.last_transition_time.clone(),
        ),
    };
    match existing {
        Some(index) => conditions[index] = condition,
        None => conditions.push(condition),
    }
}
