//! What the watches have shown, plus this process's own writes. A reconcile that reads from here
//! costs no request, and never sees a state older than what it wrote itself.

mod children;
mod entry;
mod packed;
mod primary;

pub use children::Children;
pub use primary::Primary;

use super::{backoff::WatchBackoff, conditions::Status, guard::Guarded, scope::Scope};
use futures::{Stream, stream::BoxStream};
use kube::{
    Api, Resource,
    core::object::HasStatus,
    runtime::{
        WatchStreamExt,
        controller::ReconcileRequest,
        watcher::{self, Event, watcher},
    },
};
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Any resource that can be watched, namespaced or not.
pub trait Watched:
    Resource<DynamicType = (), Scope: Scope> + DeserializeOwned + Clone + Debug + Send + Sync + 'static
{
}
impl<K> Watched for K where
    K: Resource<DynamicType = (), Scope: Scope> + DeserializeOwned + Clone + Debug + Send + Sync + 'static
{
}

/// A watched custom resource with a status.
pub trait Kind: Watched + HasStatus<Status: Status> {}
impl<K: Watched + HasStatus<Status: Status>> Kind for K {}

/// Objects that are to be reconciled.
pub(super) type Triggers<P> = BoxStream<'static, watcher::Result<ReconcileRequest<Guarded<P>>>>;

fn watch<K: Watched>(api: Api<K>, config: watcher::Config) -> impl Stream<Item = watcher::Result<Event<K>>> + Send {
    // A page is in memory as a whole; of metadata more objects fit.
    let page = if K::metadata_api() { 500 } else { 250 };
    watcher(api, config.page_size(page)).backoff(WatchBackoff::default())
}

/// The resourceVersion: an ordered number, for the objects of one kind.
fn version(obj: &impl Resource) -> Option<u64> {
    obj.meta().resource_version.as_deref()?.parse().ok()
}

/// Whether `a` is the version of a newer state than `b` (or that is unknown).
fn is_newer(a: Option<u64>, b: Option<u64>) -> bool {
    a.is_none() || b.is_none() || a > b
}
