//! Caches hold the objects that watches have shown, and the results of this process's own writes. A reconcile that
//! reads from a cache sends no request, and never sees a state that is older than its own writes.

mod absent;
mod alone;
mod apply;
mod change;
mod children;
mod claims;
mod conditions;
mod desired;
mod entry;
mod failure;
mod filter;
mod listing;
mod field_manager;
mod observed;
mod owner;
mod ownership;
mod mappers;
mod pause;
mod primary;
mod prune;
mod recent;
mod references;
mod replaced;
mod selections;
mod shared;
mod state;
mod status;
mod watch;

pub use alone::apply_owned;
pub(crate) use children::Children;
pub use desired::Desired;
pub use field_manager::{CacheRef, FieldManager};
pub use mappers::ObjectName;
pub(crate) use primary::PrimaryCache;
pub(crate) use shared::SharedWatches;
pub use watch::WatchOptions;

pub(crate) use children::Link;
pub(crate) use claims::Claims;
pub(crate) use conditions::{DEGRADED, PAUSED};
pub(crate) use failure::Report;
pub(crate) use mappers::{by_annotation, by_mapper, by_owner};
pub(crate) use observed::Observed;
pub(crate) use owner::{Owner, Owners};
pub(crate) use prune::{Moment, Prunes, RunningReconciles};
pub(crate) use references::References;
pub(crate) use selections::{Selection, Selections};
pub(crate) use watch::Synced;

use crate::{lock, scope::ResourceScope};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{Api, Resource, api::ListParams, runtime::reflector::ObjectRef};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use watch::watch;

/// Any resource that can be watched, namespaced or not.
pub trait Watchable:
    Resource<DynamicType = (), Scope: ResourceScope> + DeserializeOwned + Clone + Debug + Send + Sync + 'static
{
}
impl<K> Watchable for K where
    K: Resource<DynamicType = (), Scope: ResourceScope> + DeserializeOwned + Clone + Debug + Send + Sync + 'static
{
}

/// Returns the key of an object in a cache: `namespace/name`, or `/name` if the object is cluster-scoped.
pub(crate) fn object_key(namespace: Option<&str>, name: &str) -> Box<str> {
    format!("{}/{name}", namespace.unwrap_or_default()).into()
}

/// Returns the key of an object in a cache.
pub(crate) fn key_of(object: &impl Resource) -> Box<str> {
    let meta = object.meta();
    object_key(meta.namespace.as_deref(), meta.name.as_deref().unwrap_or_default())
}

/// Returns the reference to the object that has a key.
pub(crate) fn object_ref<K: Resource<DynamicType = ()>>(key: &str) -> ObjectRef<K> {
    match key.split_once('/') {
        Some(("", name)) => ObjectRef::new(name),
        Some((namespace, name)) => ObjectRef::new(name).within(namespace),
        None => ObjectRef::new(key),
    }
}

/// Returns the owner reference to an object's controller.
pub(crate) fn controller_reference(meta: &ObjectMeta) -> Option<&OwnerReference> {
    meta.owner_references.iter().flatten().find(|owner| owner.controller == Some(true))
}

/// Fetches an object from the API server. It sends a `list` request, because the operator has this permission already
/// for its watches.
async fn fetch_object<K: Watchable>(api: &Api<Observed<K>>, name: &str) -> kube::Result<Option<Observed<K>>> {
    let params = ListParams::default().fields(&format!("metadata.name={name}"));
    Ok(api.list(&params).await?.items.into_iter().find(|object| object.metadata.name.as_deref() == Some(name)))
}

#[cfg(test)]
mod tests;
