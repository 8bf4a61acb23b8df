//! Wraps kube's finalizer, with readable errors and with retries after conflicts.

use crate::{Action, Error, Primary, cache::Watchable, scope::ResourceScope};
use kube::{
    Api, ResourceExt,
    runtime::{controller::Action as KubeAction, finalizer as kube_finalizer},
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
    use kube_finalizer::Error as FinalizerError;
    let api: Api<K> = K::Scope::api(&primary.cache.client(), object.namespace().as_deref());
    let is_new =
        object.meta().deletion_timestamp.is_none() && !object.finalizers().iter().any(|existing| existing == name);
    let object = match is_new && primary.cache.is_dry_run() {
        // In a dry run, no watch event brings the object with the finalizer: so the finalizer is added here.
        true => {
            let nothing = |_| async { Ok::<_, Error>(KubeAction::await_change()) };
            let added = kube_finalizer::finalizer(&api, name, object.clone(), nothing).await;
            added.map_err(|error| match error {
                FinalizerError::AddFinalizer(error) => Error::from(to_conflict(error)),
                _ => Error::MissingField("valid finalizer"),
            })?;
            let mut object = (*object).clone();
            object.finalizers_mut().push(name.into());
            Arc::new(object)
        }
        false => object,
    };
    // kube's finalizer returns the action of `reconcile` unchanged, but only in its own type.
    let mut action = Action::await_change();
    let returned = &mut action;
    let reconcile = move |event| {
        let reconcile = reconcile(event);
        async move {
            *returned = reconcile.await?;
            Ok(KubeAction::await_change())
        }
    };
    match kube_finalizer::finalizer(&api, name, object, reconcile).await {
        Ok(_) => Ok(action),
        Err(FinalizerError::ApplyFailed(error) | FinalizerError::CleanupFailed(error)) => Err(error),
        Err(FinalizerError::AddFinalizer(error) | FinalizerError::RemoveFinalizer(error)) => {
            Err(Error::from(to_conflict(error)).into())
        }
        Err(FinalizerError::UnnamedObject) => Err(Error::MissingField("name").into()),
        Err(FinalizerError::InvalidFinalizer) => Err(Error::MissingField("valid finalizer").into()),
    }
}

/// Turns the refusal of an outdated list of finalizers into a conflict. The API server answers 422 to a JSON patch
/// whose test fails, as to an invalid object, but then names no object.
fn to_conflict(error: kube::Error) -> kube::Error {
    let kube::Error::Api(mut status) = error else { return error };
    let names_no_object = status.details.as_ref().is_none_or(|details| details.name.is_empty());
    if status.is_invalid() && names_no_object {
        (status.code, status.reason) = (409, "Conflict".into());
    }
    kube::Error::Api(status)
}
