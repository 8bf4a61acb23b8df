//! kube's finalizer, with readable errors and with retries after conflicts.

use crate::{Action, Error, Primary, cache::Watchable, scope::ResourceScope};
use kube::{
    Api, ResourceExt,
    runtime::{controller::Action as After, finalizer as kube_finalizer},
};
use serde::Serialize;
use std::sync::Arc;

pub use kube::runtime::finalizer::Event as FinalizerEvent;

/// Adds a finalizer to an object before `reconcile` runs, and removes it after the clean-up.
///
/// `reconcile` receives [`FinalizerEvent::Cleanup`] when the object is being deleted, until it succeeds, and
/// [`FinalizerEvent::Apply`] otherwise. It can be interrupted at any point and runs again. `name` needs a domain,
/// such as `example.com/bucket`, and the operator's role needs `patch` on the resource.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_rs_runtime::{Action, Error, FinalizerEvent, Primary, finalizer};
/// use std::sync::Arc;
///
/// async fn reconcile(config: Arc<ConfigMap>, configs: Primary<ConfigMap>) -> Result<Action, Error> {
///     finalizer(&configs, "example.com/bucket", config, |event| async {
///         match event {
///             FinalizerEvent::Apply(config) => println!("make a bucket for {:?}", config.metadata.name),
///             FinalizerEvent::Cleanup(config) => println!("remove the bucket of {:?}", config.metadata.name),
///         }
///         Ok(Action::await_change())
///     })
///     .await
/// }
/// ```
///
/// # Errors
///
/// The error of `reconcile`, or [`Error::Kube`] if the API server refuses the finalizer.
pub async fn finalizer<K, F, Fut, E>(
    primary: &Primary<K>,
    name: &str,
    object: Arc<K>,
    reconcile: F,
) -> Result<Action, E>
where
    K: Watchable + Serialize,
    F: FnOnce(FinalizerEvent<K>) -> Fut,
    Fut: Future<Output = Result<Action, E>>,
    E: From<Error> + std::error::Error + 'static,
{
    use kube_finalizer::Error as Step;
    let api: Api<K> = K::Scope::api(&primary.cache.client(), object.namespace().as_deref());
    let is_new = object.meta().deletion_timestamp.is_none() && !object.finalizers().iter().any(|it| it == name);
    let object = match is_new && primary.cache.is_dry_run() {
        // It will not come back with the finalizer: so it goes on from here.
        true => {
            let nothing = |_| async { Ok::<_, Error>(After::await_change()) };
            let added = kube_finalizer::finalizer(&api, name, object.clone(), nothing).await;
            added.map_err(|error| match error {
                Step::AddFinalizer(error) => Error::from(stale(error)),
                _ => Error::MissingField("valid finalizer"),
            })?;
            let mut object = (*object).clone();
            object.finalizers_mut().push(name.into());
            Arc::new(object)
        }
        false => object,
    };
    // kube wants an action of its own, and changes none.
    let mut action = Action::await_change();
    let kept = &mut action;
    let reconcile = move |event| {
        let reconcile = reconcile(event);
        async move {
            *kept = reconcile.await?;
            Ok(After::await_change())
        }
    };
    match kube_finalizer::finalizer(&api, name, object, reconcile).await {
        Ok(_) => Ok(action),
        Err(Step::ApplyFailed(error) | Step::CleanupFailed(error)) => Err(error),
        Err(Step::AddFinalizer(error) | Step::RemoveFinalizer(error)) => Err(Error::from(stale(error)).into()),
        Err(Step::UnnamedObject) => Err(Error::MissingField("name").into()),
        Err(Step::InvalidFinalizer) => Err(Error::MissingField("valid finalizer").into()),
    }
}

/// A list of finalizers that has changed meanwhile is a conflict. The server answers 422 to a JSON patch
/// whose test fails, as to an invalid object, but names no object then.
fn stale(error: kube::Error) -> kube::Error {
    match error {
        kube::Error::Api(mut it) if it.is_invalid() && it.details.as_ref().is_none_or(|it| it.name.is_empty()) => {
            (it.code, it.reason) = (409, "Conflict".into());
            kube::Error::Api(it)
        }
        other => other,
    }
}
