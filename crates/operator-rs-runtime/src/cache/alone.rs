//! Applies an object with an owner by server-side apply, without a controller of this crate and its cache.

use super::{Children, Desired, Link, Owner, Owners, WatchOptions, Watchable, fetch_object};
use crate::{Error, Labels};
use kube::{Client, runtime::watcher::Event};

/// Applies `desired` as an object that `owner` owns, as [`Owned::apply`](crate::Owned::apply) does, without a
/// controller of this crate. Returns the resulting object. It gets the present object by one `list` request, and writes
/// nothing if that object is as desired and the field manager owns each desired field.
///
/// The owner reference and, where `desired` names none, the namespace are set. Fields that are no longer desired are
/// removed. An object of another owner is not changed.
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use operator_rs_runtime::{Error, apply_owned};
///
/// async fn reconcile(client: &kube::Client, owner: &Deployment, desired: &ConfigMap) -> Result<(), Error> {
///     apply_owned(client, "my-operator", owner, desired).await?;
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// Those of [`Owned::apply`](crate::Owned::apply).
pub async fn apply_owned<C, K>(client: &Client, field_manager: &'static str, owner: &K, desired: &C) -> Result<C, Error>
where
    C: Watchable + Desired<C>,
    K: Watchable,
{
    let link = Link::Owner(Box::new(|_| vec![]), Owners::without_cache::<K>());
    let filter = WatchOptions::default().filter();
    let cache = Children::new(client.clone(), field_manager, Labels::new(), filter, link, |_| {});
    let owner = Owner::new(owner)?;
    let (namespace, name) = cache.resolve_name(&owner, desired.meta())?;
    if let Some(current) = fetch_object(&cache.api(namespace.as_deref()), &name).await? {
        cache.handle_event(Event::Apply(current));
    }
    cache.apply_owned(&owner, desired).await
}
