//! The Memcached operator on koprs, in the way of its README: its builder, and its helpers to apply, list, patch the status
//! and publish an event.

#[path = "../../memcached.rs"]
mod memcached;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
use koprs::{
    controller::{Action, Context, ControllerBuilder, ObjectRef, Reconciler, watcher},
    error::KubeGenericError,
    events::{EventType, record_event},
    owners::controller_ref,
    resources::{apply_resource, list_resources_scoped},
    scope::Namespaced,
    status::patch_status_namespaced,
};
use kube::{Api, Client, ResourceExt as _, api::ListParams};
use memcached::{MANAGER, Memcached, OWNER, SELECTOR, deployment_for, selector_for, status_for};
use std::sync::Arc;

struct Operator {
    image: String,
}

impl Reconciler<Memcached> for Operator {
    type Error = KubeGenericError;

    async fn reconcile(
        &self,
        memcached: Arc<Memcached>,
        context: Arc<Context>,
    ) -> Result<Action, KubeGenericError> {
        if memcached.metadata.deletion_timestamp.is_some() {
            return Ok(Action::await_change());
        }
        let (client, name) = (&context.client, memcached.name_any());
        let namespace = memcached.namespace().unwrap_or_default();

        let desired = deployment_for(&memcached, &self.image, controller_ref(&*memcached)?);
        let deployment: Deployment =
            apply_resource(client.clone(), Namespaced(namespace.as_str()), &desired, MANAGER)
                .await?;

        let selected = ListParams::default().labels(&selector_for(&name));
        let pods = list_resources_scoped::<Pod, _>(
            client.clone(),
            Namespaced(namespace.as_str()),
            selected,
        )
        .await?;
        let mut names: Vec<String> = pods.iter().map(|pod| pod.name_any()).collect();
        names.sort();

        let status = status_for(&memcached, &deployment, names);
        if memcached.status.as_ref() == Some(&status) {
            return Ok(Action::await_change());
        }
        let is_available = status.is_available();
        patch_status_namespaced::<Memcached, _>(client.clone(), &namespace, &name, status, MANAGER)
            .await?;
        if is_available && !memcached.status.as_ref().is_some_and(|before| before.is_available()) {
            let (reason, note) = ("Available", "All pods are ready");
            record_event(
                client.clone(),
                &*memcached,
                EventType::Normal,
                "Reconcile",
                reason,
                note,
                MANAGER,
            )
            .await?;
        }
        Ok(Action::await_change())
    }
}

fn owner_of(pod: Pod) -> Option<ObjectRef<Memcached>> {
    let owner = pod.annotations().get(OWNER)?;
    Some(ObjectRef::new(owner).within(pod.metadata.namespace.as_deref()?))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .init();
    let client = Client::try_default().await?;
    let operator = Operator { image: std::env::var("RELATED_IMAGE_MEMCACHED")? };
    let dependents = || watcher::Config::default().labels(SELECTOR);
    ControllerBuilder::new(Api::<Memcached>::all(client.clone()))
        .owns(Api::<Deployment>::all(client.clone()), dependents())
        .watch(Api::<Pod>::all(client.clone()), dependents(), owner_of)
        .health_port(0)
        .graceful_shutdown()
        .run(operator, Context::new(client))
        .await?;
    Ok(())
}
