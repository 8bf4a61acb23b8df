//! Reconciles `Website`: a Deployment of nginx, its configuration in a ConfigMap, a Service, and DNS records.

mod objects;

use crate::{Error, Result, dns::Dns};
use api::web::v1alpha1::{Website, WebsiteStatus};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{ResourceExt as _, api::PartialObjectMeta};
use operator_rs_runtime::{
    Action, Controller, Dependents, FinalizerEvent, Manager, Owned, Primary, Referenced, WatchOptions, conditions,
    finalizer,
};
use std::{sync::Arc, time::Duration};

/// The environment variable with the image of the pods. OLM and mirrored registries rely on this name.
const IMAGE: &str = "RELATED_IMAGE_WEBSITE";

/// Kubernetes keeps a Website that has this finalizer until `cleanup` has succeeded.
const FINALIZER: &str = "web.example.com/dns";

/// The DNS provider sends no events, so the records are written again after this time.
const DNS_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// What `reconcile` needs besides the object.
struct Ctx {
    manager: Manager,
    image: Option<String>,
    dns: Dns,
    websites: Primary<Website>,
    dependents: Dependents<Website>,
    configs: Owned<ConfigMap, Website>,
    deployments: Owned<Deployment, Website>,
    services: Owned<Service, Website>,
    /// Metadata is enough to notice a new certificate, and keeps private keys out of memory.
    secrets: Referenced<PartialObjectMeta<Secret>>,
}

// +kubebuilder:rbac:groups=web.example.com,resources=websites,verbs=list;watch;patch
// +kubebuilder:rbac:groups=web.example.com,resources=websites/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps;services,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=list;watch
pub async fn run(manager: Manager) -> Result<()> {
    let image = std::env::var(IMAGE).ok().filter(|image| !image.is_empty());
    let dns = Dns::from_env().map_err(|error| Error::Configuration(format!("cannot use the DNS zone: {error}")))?;
    run_with(manager, image, dns).await
}

/// Like `run`, but with a given image and zone, so that tests need no environment variables.
pub async fn run_with(manager: Manager, image: Option<String>, dns: Dns) -> Result<()> {
    let mut controller = Controller::new(&manager);
    // The controller watches objects with these labels, and `apply` sets them.
    let labels = objects::common_labels();
    let ctx = Ctx {
        manager,
        image,
        dns,
        websites: controller.primary(),
        dependents: controller.dependents(),
        configs: controller.owns(&labels),
        deployments: controller.owns(&labels),
        services: controller.owns(&labels),
        secrets: controller.references(WatchOptions::default(), |website: &Website| website.spec.certificate.clone()),
    };
    controller.run(reconcile, Arc::new(ctx)).await
}

async fn reconcile(website: Arc<Website>, ctx: Arc<Ctx>) -> Result<Action> {
    finalizer(&ctx.websites, FINALIZER, website, |event| async {
        match event {
            FinalizerEvent::Apply(website) => apply(&website, &ctx).await,
            FinalizerEvent::Cleanup(website) => cleanup(&website, &ctx).await,
        }
    })
    .await
}

/// Changes the cluster and the DNS records to match `website`.
async fn apply(website: &Website, ctx: &Ctx) -> Result<Action> {
    let image = ctx.image.as_deref().ok_or(Error::MissingEnvVar(IMAGE))?;
    let certificate = match &website.spec.certificate {
        None => None,
        Some(name) => Some(certificate(website, name, ctx)?),
    };
    ctx.configs.apply(website, &objects::config_for(website)).await?;
    ctx.services.apply(website, &objects::service_for(website)).await?;
    let deployment = objects::deployment_for(website, image, certificate.as_deref());
    let deployment = ctx.deployments.apply(website, &deployment).await?;
    ctx.dependents.prune(website).await?; // deletes what an earlier version of this operator has created

    // An error of the provider is transient: the runtime retries, and sets `Degraded` if it persists.
    ctx.dns.publish(&id(website), &website.spec.domains).await.map_err(dns_error)?;

    let before = website.status.clone().unwrap_or_default().conditions;
    let status = status_for(website, &deployment);
    let is_new = conditions::became_true(&before, &status.conditions, "Available");
    if ctx.websites.update_status(website, status).await? && is_new {
        ctx.manager.event(website).normal("Available", "The website is served under all its domains").await;
    }
    Ok(Action::requeue(DNS_INTERVAL))
}

/// Removes the DNS records. Kubernetes deletes the dependents itself, after the Website.
async fn cleanup(website: &Website, ctx: &Ctx) -> Result<Action> {
    ctx.dns.remove(&id(website)).await.map_err(dns_error)?;
    Ok(Action::await_change())
}

/// The version of the certificate. While there is none, the error sets `Degraded`; creating the Secret triggers a
/// reconcile.
fn certificate(website: &Website, name: &str, ctx: &Ctx) -> Result<String> {
    let secret = ctx.secrets.get(website.namespace().as_deref(), name);
    let missing = || Error::permanent("SecretMissing", format!("the Secret `{name}` does not exist"));
    let secret = secret.ok_or_else(missing)?;
    Ok(secret.resource_version().unwrap_or_default())
}

fn dns_error(error: std::io::Error) -> Error {
    Error::transient("DnsUnavailable", format!("cannot update the DNS records: {error}"))
}

/// Identifies a Website, even after another one of the same name was deleted.
fn id(website: &Website) -> String {
    website.uid().unwrap_or_default()
}

/// Returns the status of `website`, from the observed Deployment.
pub fn status_for(website: &Website, deployment: &Deployment) -> WebsiteStatus {
    let (replicas, generation) = (website.spec.replicas, website.metadata.generation);
    let found = deployment.status.clone().unwrap_or_default();
    let current = found.observed_generation >= deployment.metadata.generation;
    let ready = found.ready_replicas.unwrap_or(0);
    let available = current && ready >= replicas;
    let settled = available && found.updated_replicas.unwrap_or(0) == replicas;

    let mut status = website.status.clone().unwrap_or_default();
    status.observed_generation = generation;
    let message = format!("{ready} of {replicas} pods are ready");
    let mut set = |condition| conditions::set(&mut status.conditions, generation, condition);
    let reason = if available { "PodsReady" } else { "PodsNotReady" };
    set(conditions::new("Available", available, reason, &message));
    let reason = if settled { "RolloutComplete" } else { "RolloutInProgress" };
    set(conditions::new("Progressing", !settled, reason, &message));
    set(conditions::new("Degraded", false, "AsExpected", ""));
    status
}
