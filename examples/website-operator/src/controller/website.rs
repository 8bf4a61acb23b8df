//! Reconciles `Website`: a Deployment of nginx, its configuration in a ConfigMap, a Service, and DNS records.

mod objects;

use crate::{Error, Result, dns::Dns};
use api::web::v1alpha1::{Website, WebsiteStatus};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use kube::{ResourceExt as _, api::PartialObjectMeta};
use runtime::{Action, conditions, finalizer};
use std::{sync::Arc, time::Duration};

/// The environment variable with the image of the pods. OLM and mirrored registries rely on this name.
const IMAGE: &str = "RELATED_IMAGE_WEBSITE";

/// Kubernetes keeps a Website that has this finalizer until `cleanup` has succeeded.
const FINALIZER: &str = "web.example.com/dns";

/// The DNS provider sends no events, so the records are written again after this time.
const DNS_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// What `reconcile` needs besides the object.
struct Ctx {
    operator: runtime::Operator,
    image: Option<String>,
    dns: Dns,
    websites: Arc<runtime::Primary<Website>>,
    owned: Arc<runtime::Owned<Website>>,
    configs: Arc<runtime::Children<ConfigMap>>,
    deployments: Arc<runtime::Children<Deployment>>,
    services: Arc<runtime::Children<Service>>,
    /// Metadata is enough to notice a new certificate, and keeps private keys out of memory.
    secrets: Arc<runtime::Children<PartialObjectMeta<Secret>>>,
}

// +kubebuilder:rbac:groups=web.example.com,resources=websites,verbs=list;watch;patch
// +kubebuilder:rbac:groups=web.example.com,resources=websites/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps;services,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=list;watch
pub async fn run(operator: runtime::Operator) -> anyhow::Result<()> {
    let image = std::env::var(IMAGE).ok().filter(|image| !image.is_empty());
    run_with(operator, image, Dns::from_env()?).await
}

/// Like `run`, but with a given image and zone, so that tests need no environment variables.
pub async fn run_with(operator: runtime::Operator, image: Option<String>, dns: Dns) -> anyhow::Result<()> {
    let mut controller = runtime::Controller::new(&operator);
    // The controller watches objects with these labels. `apply` refuses an object without them.
    let labels = objects::common_labels();
    let configs = controller.owns(&labels);
    let deployments = controller.owns(&labels);
    let services = controller.owns(&labels);
    let secrets = controller.refers_to(runtime::Watch::default(), |website: &Website| website.spec.certificate.clone());
    let (websites, owned) = (controller.primary(), controller.owned());
    let ctx = Ctx { operator, image, dns, websites, owned, configs, deployments, services, secrets };
    controller.run(reconcile, Arc::new(ctx)).await
}

async fn reconcile(website: Arc<Website>, ctx: Arc<Ctx>) -> Result<Action> {
    finalizer::finalizer(&ctx.websites, FINALIZER, website, |event| async {
        match event {
            finalizer::Event::Apply(website) => apply(&website, &ctx).await,
            finalizer::Event::Cleanup(website) => cleanup(&website, &ctx).await,
        }
    })
    .await
}

/// Changes the cluster and the DNS records to match `website`.
async fn apply(website: &Website, ctx: &Ctx) -> Result<Action> {
    let image = ctx.image.as_deref().ok_or(Error::Unset(IMAGE))?;
    let certificate = match &website.spec.certificate {
        None => None,
        Some(name) => Some(certificate(website, name, ctx)?),
    };
    let mut set = ctx.owned.of(website);
    set.apply(&ctx.configs, &objects::config_for(website)).await?;
    set.apply(&ctx.services, &objects::service_for(website)).await?;
    let deployment = objects::deployment_for(website, image, certificate.as_deref());
    let deployment = set.apply(&ctx.deployments, &deployment).await?;
    set.prune().await?; // deletes what an earlier version of this operator has created

    // An error of the provider is transient: the runtime retries, and sets `Degraded` if it persists.
    ctx.dns.publish(&id(website), &website.spec.domains).await.map_err(dns_error)?;

    let before = website.status.clone().unwrap_or_default().conditions;
    let status = status_for(website, &deployment);
    let is_new = conditions::became_true(&before, &status.conditions, "Available");
    if ctx.websites.set_status(website, status).await? && is_new {
        ctx.operator.normal(website, "Available", "The website is served under all its domains").await;
    }
    Ok(Action::requeue(DNS_INTERVAL))
}

/// Removes the DNS records. Kubernetes deletes the owned objects itself, after the Website.
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
    let available = current && replicas <= ready;
    let settled = available && found.updated_replicas.unwrap_or(0) == replicas;

    let mut status = website.status.clone().unwrap_or_default();
    status.observed_generation = generation;
    let message = format!("{ready} of {replicas} pods are ready");
    let mut set = |type_, value, because| conditions::set(&mut status.conditions, generation, type_, value, because);
    set("Available", available, (if available { "PodsReady" } else { "PodsNotReady" }, &message));
    set("Progressing", !settled, (if settled { "RolloutComplete" } else { "RolloutInProgress" }, &message));
    set("Degraded", false, ("AsExpected", ""));
    status
}
