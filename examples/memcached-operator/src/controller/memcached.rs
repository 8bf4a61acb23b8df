//! Reconciles `Memcached`: a Deployment of its image, and a status that says how that fares.

use crate::{
    Error, Result,
    runtime::{self, conditions},
};
use api::cache::v1alpha1::Memcached;
use api::cache::v1alpha1::MemcachedStatus;
use k8s_openapi::{
    api::{apps::v1 as appsv1, core::v1 as corev1},
    apimachinery::pkg::apis::meta::v1 as metav1,
};
use kube::{Resource as _, ResourceExt as _};
use std::{collections::BTreeMap, sync::Arc};

/// Where the image of the pods stands: OLM and disconnected clusters look for it there.
const IMAGE: &str = "RELATED_IMAGE_MEMCACHED";

/// The label that says which object a pod belongs to.
const INSTANCE: &str = "app.kubernetes.io/instance";

/// A pod without its spec and status: only names and labels are of interest.
type PodMeta = kube::api::PartialObjectMeta<corev1::Pod>;

/// What `reconcile` gets besides the object.
struct Ctx {
    env: runtime::Env,
    image: Option<String>,
    objects: Arc<runtime::Primary<Memcached>>,
    deployments: Arc<runtime::Children<appsv1::Deployment>>,
    pods: Arc<runtime::Children<PodMeta>>,
}

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
pub async fn run(env: runtime::Env) -> anyhow::Result<()> {
    let image = std::env::var(IMAGE).ok().filter(|image| !image.is_empty());
    run_with(env, image).await
}

/// As `run`, with an image that is known: tests change no environment.
pub async fn run_with(env: runtime::Env, image: Option<String>) -> anyhow::Result<()> {
    let mut controller = runtime::Controller::new(&env);
    let ctx = Ctx {
        env,
        image,
        objects: controller.primary(),
        deployments: controller.owns(&common_labels()),
        pods: controller.watches(&common_labels(), |pod: &PodMeta| pod.labels().get(INSTANCE).cloned()),
    };
    controller.run(reconcile, Arc::new(ctx)).await
}

/// Brings the cluster closer to what `obj` asks for. Called again whenever `obj`, its Deployment or
/// its pods change, and after an error.
async fn reconcile(obj: Arc<Memcached>, ctx: Arc<Ctx>) -> Result<runtime::Action> {
    if obj.metadata.deletion_timestamp.is_some() {
        return Ok(runtime::Action::await_change()); // the owner reference takes the Deployment along
    }
    let image = ctx.image.as_deref().ok_or(Error::Unset(IMAGE))?;
    let deployment = ctx.deployments.apply_desired(&deployment_for(&obj, image)?).await?;
    let mut pods: Vec<String> = ctx.pods.of(&*obj).iter().map(|pod| pod.name_any()).collect();
    pods.sort(); // in whatever order they were seen, so that a restart finds nothing to write
    let status = status_for(&obj, &deployment, pods);
    if ctx.objects.set_status(&obj, status.clone()).await? {
        if conditions::became_true(obj.status.as_ref(), &status, "Available") {
            ctx.env.normal(&*obj, "Available", "All pods are ready").await;
        }
        if conditions::became_true(obj.status.as_ref(), &status, "Degraded") {
            ctx.env.warning(&*obj, "Degraded", "The Deployment does not progress, see the conditions").await;
        }
    }
    Ok(runtime::Action::await_change())
}

/// The Deployment that `obj` asks for. Pure, hence easy to test.
pub fn deployment_for(obj: &Memcached, image: &str) -> Result<appsv1::Deployment> {
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
    Ok(appsv1::Deployment {
        metadata: metav1::ObjectMeta {
            name: obj.metadata.name.clone(),
            namespace: obj.metadata.namespace.clone(),
            labels: Some(labels.clone()),
            owner_references: Some(vec![obj.controller_owner_ref(&()).ok_or(Error::Missing("uid"))?]),
            ..Default::default()
        },
        spec: Some(appsv1::DeploymentSpec {
            replicas: Some(obj.spec.size),
            selector: metav1::LabelSelector { match_labels: Some(labels.clone()), ..Default::default() },
            template: corev1::PodTemplateSpec {
                metadata: Some(metav1::ObjectMeta { labels: Some(labels), ..Default::default() }),
                spec: Some(pod),
            },
            ..Default::default()
        }),
        ..Default::default()
    })
}

/// The status that follows from what is running. Pure as well.
pub fn status_for(
    obj: &Memcached,
    deployment: &appsv1::Deployment,
    pods: Vec<String>, // their names
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
    status.selector = runtime::labels::selector(&labels_for(&obj.name_any()));
    // New pods are listed once the rollout is done, rather than one write each.
    status.nodes = if settled { pods } else { status.nodes.into_iter().filter(|it| pods.contains(it)).collect() };

    let message = format!("{ready} of {size} pods are ready");
    let mut set = |type_, value, because| conditions::set(&mut status.conditions, generation, type_, value, because);
    set("Available", available, (if available { "PodsReady" } else { "PodsNotReady" }, &message));
    set("Progressing", !settled, (if settled { "RolloutComplete" } else { "RolloutInProgress" }, &message));
    match failure {
        Some(it) => {
            let reason = it.reason.as_deref().unwrap_or("RolloutFailed");
            set("Degraded", true, (reason, it.message.as_deref().unwrap_or_default()));
        }
        None => set("Degraded", false, ("AsExpected", "")),
    }
    status
}

/// What everything of this kind is labelled with.
fn common_labels() -> runtime::Labels {
    BTreeMap::from([
        ("app.kubernetes.io/name".into(), "memcached".into()),
        ("app.kubernetes.io/part-of".into(), "cache".into()),
        ("app.kubernetes.io/managed-by".into(), runtime::NAME.into()),
    ])
}

fn labels_for(name: &str) -> runtime::Labels {
    let mut labels = common_labels();
    labels.insert(INSTANCE.into(), name.into());
    labels
}

impl conditions::Status for MemcachedStatus {
    fn conditions(&self) -> &[metav1::Condition] {
        &self.conditions
    }
    fn conditions_mut(&mut self) -> &mut Vec<metav1::Condition> {
        &mut self.conditions
    }
}
