//! Reconciles `Memcached`: creates a Deployment of its image and reports the Deployment's state.

use crate::{Error, Result};
use api::cache::v1alpha1::Memcached;
use api::cache::v1alpha1::MemcachedStatus;
use k8s_openapi::{
    api::{apps::v1 as appsv1, core::v1 as corev1},
    apimachinery::pkg::apis::meta::v1 as metav1,
};
use kube::ResourceExt as _;
use operator_rs_runtime::{self as runtime, conditions, label_selector, label_value};
use std::{collections::BTreeMap, sync::Arc};

/// The environment variable with the image of the pods. OLM and mirrored registries rely on this name.
const IMAGE: &str = "RELATED_IMAGE_MEMCACHED";

/// The annotation of a pod with the name of its Memcached. (Names can be too long for a label.)
const OWNER: &str = "cache.example.com/memcached";

/// The metadata of a pod. The cache leaves out the rest to save memory.
type PodMeta = kube::api::PartialObjectMeta<corev1::Pod>;

/// What `reconcile` needs besides the object.
struct Ctx {
    manager: runtime::Manager,
    image: Option<String>,
    objects: runtime::Primary<Memcached>,
    deployments: runtime::Owned<appsv1::Deployment, Memcached>,
    pods: runtime::Watched<PodMeta, Memcached>,
}

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
pub async fn run(manager: runtime::Manager) -> Result<()> {
    let image = std::env::var(IMAGE).ok().filter(|image| !image.is_empty());
    run_with(manager, image).await
}

/// Like `run`, but with a given image, so that tests need no environment variable.
pub async fn run_with(manager: runtime::Manager, image: Option<String>) -> Result<()> {
    let mut controller = runtime::Controller::new(&manager);
    let ctx = Ctx {
        manager,
        image,
        objects: controller.primary(),
        deployments: controller.owns(&common_labels()),
        pods: controller.watches(&common_labels(), |pod: &PodMeta| pod.annotations().get(OWNER).cloned()),
    };
    controller.run(reconcile, Arc::new(ctx)).await
}

/// Changes the cluster to match `obj`. The controller calls it whenever `obj`, its Deployment or its pods change, and
/// again after an error.
async fn reconcile(obj: Arc<Memcached>, ctx: Arc<Ctx>) -> Result<runtime::Action> {
    if obj.metadata.deletion_timestamp.is_some() {
        return Ok(runtime::Action::await_change()); // Kubernetes deletes the Deployment
    }
    let image = ctx.image.as_deref().ok_or(Error::MissingEnvVar(IMAGE))?;
    let deployment = ctx.deployments.apply(&obj, &deployment_for(&obj, image)).await?;
    let pods: Vec<String> = ctx.pods.mapped_to(&obj).iter().map(|pod| pod.name_any()).collect();
    let before = obj.status.clone().unwrap_or_default().conditions;
    let status = status_for(&obj, &deployment, pods);
    let after = status.conditions.clone();
    if ctx.objects.update_status(&obj, status).await? {
        if conditions::became_true(&before, &after, "Available") {
            ctx.manager.event(&*obj).normal("Available", "All pods are ready").await;
        }
        if conditions::became_true(&before, &after, "Degraded") {
            ctx.manager.event(&*obj).warning("Degraded", "The Deployment is not progressing: see the conditions").await;
        }
    }
    Ok(runtime::Action::await_change())
}

/// Returns the desired Deployment of `obj`. It is a pure function, so that it is easy to test. The runtime makes `obj` its
/// owner.
pub fn deployment_for(obj: &Memcached, image: &str) -> appsv1::Deployment {
    let labels = labels_for(&obj.name_any());
    let container = corev1::Container {
        name: "memcached".into(),
        image: Some(image.into()),
        ports: Some(vec![corev1::ContainerPort { container_port: obj.spec.container_port, ..Default::default() }]),
        security_context: Some(corev1::SecurityContext {
            allow_privilege_escalation: Some(false),
            read_only_root_filesystem: Some(true),
            capabilities: Some(corev1::Capabilities { drop: Some(vec!["ALL".into()]), ..Default::default() }),
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
            seccomp_profile: Some(corev1::SeccompProfile { type_: "RuntimeDefault".into(), ..Default::default() }),
            ..Default::default()
        }),
        volumes: Some(vec![corev1::Volume {
            name: "tmp".into(),
            empty_dir: Some(corev1::EmptyDirVolumeSource::default()),
            ..Default::default()
        }]),
        ..Default::default()
    };
    appsv1::Deployment {
        metadata: metav1::ObjectMeta {
            name: obj.metadata.name.clone(),
            labels: Some(labels.clone()),
            ..Default::default()
        },
        spec: Some(appsv1::DeploymentSpec {
            replicas: Some(obj.spec.size),
            selector: metav1::LabelSelector { match_labels: Some(labels.clone()), ..Default::default() },
            template: corev1::PodTemplateSpec {
                metadata: Some(metav1::ObjectMeta {
                    labels: Some(labels),
                    annotations: Some(BTreeMap::from([(OWNER.into(), obj.name_any())])),
                    ..Default::default()
                }),
                spec: Some(pod),
            },
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Returns the status of `obj`, from the observed Deployment and pods.
pub fn status_for(
    obj: &Memcached,
    deployment: &appsv1::Deployment,
    pods: Vec<String>, // names
) -> MemcachedStatus {
    let (size, generation) = (obj.spec.size, obj.metadata.generation);
    let found = deployment.status.clone().unwrap_or_default();
    let current = found.observed_generation >= deployment.metadata.generation;
    let ready = found.ready_replicas.unwrap_or(0);
    let available = current && ready >= size;
    let settled = available && found.updated_replicas.unwrap_or(0) == size && found.replicas.unwrap_or(0) == size;
    let failure = found.conditions.iter().flatten().find(|it| {
        matches!((it.type_.as_str(), it.status.as_str()), ("ReplicaFailure", "True") | ("Progressing", "False"))
    });

    let mut status = obj.status.clone().unwrap_or_default();
    status.observed_generation = generation;
    status.ready_replicas = ready;
    status.selector = label_selector(&labels_for(&obj.name_any()));
    // Adds new pods once the rollout is complete, so that not every pod costs a write.
    status.nodes = if settled { pods } else { status.nodes.into_iter().filter(|it| pods.contains(it)).collect() };

    let message = format!("{ready} of {size} pods are ready");
    let mut set = |condition| conditions::set(&mut status.conditions, generation, condition);
    let reason = if available { "PodsReady" } else { "PodsNotReady" };
    set(conditions::new("Available", available, reason, &message));
    let reason = if settled { "RolloutComplete" } else { "RolloutInProgress" };
    set(conditions::new("Progressing", !settled, reason, &message));
    match failure {
        Some(it) => {
            let reason = it.reason.as_deref().unwrap_or("RolloutFailed");
            set(conditions::new("Degraded", true, reason, it.message.as_deref().unwrap_or_default()));
        }
        None => set(conditions::new("Degraded", false, "AsExpected", "")),
    }
    status
}

/// The labels of every object that this controller creates.
fn common_labels() -> runtime::Labels {
    BTreeMap::from([
        ("app.kubernetes.io/name".into(), "memcached".into()),
        ("app.kubernetes.io/part-of".into(), "cache".into()),
        ("app.kubernetes.io/managed-by".into(), env!("CARGO_PKG_NAME").into()),
    ])
}

fn labels_for(name: &str) -> runtime::Labels {
    let mut res = common_labels();
    res.insert("app.kubernetes.io/instance".into(), label_value(name));
    res
}
