//! Caches: the objects that watches have shown, plus this process's own writes. A reconcile that reads from here
//! costs no request, and never sees a state older than what it wrote itself.

mod absent;
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
mod manager;
mod observed;
mod owner;
mod ownership;
mod parent;
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

pub use children::Children;
pub use desired::Desired;
pub use manager::Manager;
pub use ownership::DESIRED_HASH;
pub use parent::Parent;
pub use primary::Primary;
pub use shared::Watches;
pub use watch::Watch;

pub(crate) use children::Link;
pub(crate) use claims::Claims;
pub(crate) use conditions::{DEGRADED, PAUSED};
pub(crate) use failure::Report;
pub(crate) use observed::Observed;
pub(crate) use owner::{Owner, Owners};
pub(crate) use ownership::hash;
pub(crate) use parent::{by_mapper, by_owner};
pub(crate) use prune::{Prunes, began, reconcile};
pub(crate) use references::References;
pub(crate) use selections::{Selection, Selections};
pub(crate) use watch::Synced;

use crate::{lock, scope::Scope};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::{Api, Resource, api::ListParams, runtime::reflector::ObjectRef};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use watch::watch;

/// Any resource that can be watched, namespaced or not.
pub trait Watched:
    Resource<DynamicType = (), Scope: Scope> + DeserializeOwned + Clone + Debug + Send + Sync + 'static
{
}
impl<K> Watched for K where
    K: Resource<DynamicType = (), Scope: Scope> + DeserializeOwned + Clone + Debug + Send + Sync + 'static
{
}

/// Namespace and name of an object, as one text; no namespace for one that is cluster-scoped.
pub(crate) fn key(namespace: Option<&str>, name: &str) -> Box<str> {
    format!("{}/{name}", namespace.unwrap_or_default()).into()
}

/// The key of an object.
pub(crate) fn key_of(object: &impl Resource) -> Box<str> {
    let meta = object.meta();
    key(meta.namespace.as_deref(), meta.name.as_deref().unwrap_or_default())
}

/// The object of a key.
pub(crate) fn object_ref<K: Resource<DynamicType = ()>>(key: &str) -> ObjectRef<K> {
    match key.split_once('/') {
        Some(("", name)) => ObjectRef::new(name),
        Some((namespace, name)) => ObjectRef::new(name).within(namespace),
        None => ObjectRef::new(key),
    }
}

/// The owner that is an object's controller.
pub(crate) fn controller(meta: &ObjectMeta) -> Option<&OwnerReference> {
    meta.owner_references.iter().flatten().find(|it| it.controller == Some(true))
}

/// An object by its name, from the server. (To list needs no other right than to watch.)
async fn find<K: Watched>(api: &Api<Observed<K>>, name: &str) -> kube::Result<Option<Observed<K>>> {
    let params = ListParams::default().fields(&format!("metadata.name={name}"));
    Ok(api.list(&params).await?.items.into_iter().find(|it| it.metadata.name.as_deref() == Some(name)))
}

#[cfg(test)]
mod tests;
