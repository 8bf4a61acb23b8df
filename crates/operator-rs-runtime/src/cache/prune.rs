//! Deleting what a primary object owns and does not want any more. kube has no pruning.

use super::{Children, Watched, lock};
use crate::error::Error;
use futures::{FutureExt, future::BoxFuture};
use kube::{
    Resource,
    api::{DeleteParams, Preconditions},
};
use std::collections::HashSet;
use tracing::info;

/// A cache from which objects of any kind are removed that are not desired any more.
pub(crate) trait Prunes<P>: Send + Sync {
    /// Deletes what belongs to `parent` and is not among `kept`, which are kinds with keys.
    fn prune<'a>(&'a self, parent: &'a P, kept: &'a HashSet<(String, Box<str>)>) -> BoxFuture<'a, Result<(), Error>>;
}

impl<P: Watched, C: Watched> Prunes<P> for Children<C> {
    fn prune<'a>(&'a self, parent: &'a P, kept: &'a HashSet<(String, Box<str>)>) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let undesired: Vec<_> = {
                let state = lock(&self.state);
                let all = if self.are_owned() { self.belonging(&state, parent) } else { vec![] };
                let all = all.into_iter().filter(|(_, it)| !it.is_deleted && !it.is_terminating);
                let all = all.filter(|(key, _)| !kept.contains(&(kind::<C>(), (***key).into())));
                all.map(|(key, it)| (key.clone(), it.uid.clone())).collect()
            };
            for (key, uid) in undesired {
                info!(kind = %C::kind(&()), object = %key, "deleting an object that is no longer desired");
                let (namespace, name) = key.split_once('/').unwrap_or_default();
                let preconditions = Preconditions { uid: uid.map(Into::into), resource_version: None };
                let params = DeleteParams::background().preconditions(preconditions);
                match self.api(Some(namespace).filter(|it| !it.is_empty())).delete(name, &params).await {
                    Ok(_) => {}
                    Err(kube::Error::Api(it)) if it.code == 404 => {}
                    Err(error) => return Err(error.into()),
                }
                if let Some(entry) = lock(&self.state).entries.get_mut(&key) {
                    entry.is_deleted = true;
                }
            }
            Ok(())
        }
        .boxed()
    }
}

/// A kind, told apart from one of the same name in another group.
pub(crate) fn kind<C: Resource<DynamicType = ()>>() -> String {
    format!("{}.{}", C::kind(&()), C::group(&()))
}
