//! The Memcached operator on plain kube, in the way of its documentation: kube's `Controller`, server-side apply, the
//! status only where it differs, an event.

#[path = "../../memcached.rs"]
mod memcached;

use futures::StreamExt as _;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
use kube::{
    Api, Client, Resource as _, ResourceExt as _,
    api::{ListParams, Patch, PatchParams},
    runtime::{
        Controller,
        controller::Action,
        events::{Event, EventType, Recorder, Reporter},
        reflector::ObjectRef,
        watcher,
    },
};
use memcached::{MANAGER, Memcached, OWNER, SELECTOR, deployment_for, selector_for, status_for};
use serde_json::json;
use std::{sync::Arc, time::Duration};

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Kube(#[from] kube::Error),
    #[error("the Memcached has no {0}")]
    Missing(&'static str),
}

struct Context {
    client: Client,
    recorder: Recorder,
    image: String,
}

async fn reconcile(memcached: Arc<Memcached>, context: Arc<Context>) -> Result<Action, Error> {
    if memcached.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let (client, name) = (&context.client, memcached.name_any());
    let namespace = memcached.namespace().ok_or(Error::Missing("namespace"))?;
    let apply = PatchParams::apply(MANAGER).force();

    let owner = memcached.controller_owner_ref(&()).ok_or(Error::Missing("uid"))?;
    let desired = deployment_for(&memcached, &context.image, owner);
    let deployments = Api::<Deployment>::namespaced(client.clone(), &namespace);
    let deployment = deployments.patch(&name, &apply, &Patch::Apply(&desired)).await?;

    let selected = ListParams::default().labels(&selector_for(&name));
    let pods = Api::<Pod>::namespaced(client.clone(), &namespace).list_metadata(&selected).await?;
    let mut names: Vec<String> = pods.iter().map(|pod| pod.name_any()).collect();
    names.sort();

    let status = status_for(&memcached, &deployment, names);
    if memcached.status.as_ref() == Some(&status) {
        return Ok(Action::await_change());
    }
    let patch = json!({ "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "status": status });
    Api::<Memcached>::namespaced(client.clone(), &namespace)
        .patch_status(&name, &apply, &Patch::Apply(&patch))
        .await?;
    if status.is_available()
        && !memcached.status.as_ref().is_some_and(|before| before.is_available())
    {
        let event = Event {
            type_: EventType::Normal,
            reason: "Available".into(),
            note: Some("All pods are ready".into()),
            action: "Reconcile".into(),
            secondary: None,
        };
        context.recorder.publish(&event, &memcached.object_ref(&())).await?;
    }
    Ok(Action::await_change())
}

fn error_policy(_: Arc<Memcached>, _: &Error, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

fn owner_of(pod: Pod) -> Option<ObjectRef<Memcached>> {
    let owner = pod.annotations().get(OWNER)?;
    Some(ObjectRef::new(owner).within(pod.metadata.namespace.as_deref()?))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .init();
    let client = Client::try_default().await?;
    let reporter = Reporter { controller: MANAGER.into(), instance: None };
    let context = Context {
        recorder: Recorder::new(client.clone(), reporter),
        image: std::env::var("RELATED_IMAGE_MEMCACHED")?,
        client: client.clone(),
    };
    let dependents = || watcher::Config::default().labels(SELECTOR);
    Controller::new(Api::<Memcached>::all(client.clone()), watcher::Config::default())
        .owns(Api::<Deployment>::all(client.clone()), dependents())
        .watches(Api::<Pod>::all(client), dependents(), owner_of)
        .shutdown_on_signal()
        .run(reconcile, error_policy, Arc::new(context))
        .for_each(|result| async move {
            if let Err(error) = result {
                tracing::warn!(%error, "reconcile failed");
            }
        })
        .await;
    Ok(())
}
