//! The complete set of objects that a primary desires: those that it owns and that were not applied are
//! deleted. kube has no pruning.

use crate::{
    Error,
    cache::{Children, Desired, Owner, Prunes, Watched, began},
    lock,
};
use std::sync::{Arc, Mutex};

/// The caches of all kinds that a controller owns.
pub struct Owned<P>(Mutex<Vec<Arc<dyn Prunes<P>>>>);

impl<P> Default for Owned<P> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<P: Watched> Owned<P> {
    pub(crate) fn add(&self, children: Arc<dyn Prunes<P>>) {
        lock(&self.0).push(children);
    }

    /// Starts the set of the objects that `parent` desires.
    pub fn of<'a>(&'a self, parent: &'a P) -> ApplySet<'a, P> {
        ApplySet { owned: self, parent, began: began() }
    }
}

/// The objects that one primary desires, of any kinds: call [`apply`](Self::apply) for each object, then
/// [`prune`](Self::prune).
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use runtime::{Children, Error, Owned};
///
/// async fn settle(
///     parent: &Deployment,
///     owned: &Owned<Deployment>,
///     configs: &Children<ConfigMap>,
///     desired: Vec<ConfigMap>,
/// ) -> Result<(), Error> {
///     let mut set = owned.of(parent);
///     for config in &desired {
///         set.apply(configs, config).await?;
///     }
///     set.prune().await
/// }
/// ```
#[must_use = "nothing is removed before `prune`"]
pub struct ApplySet<'a, P> {
    owned: &'a Owned<P>,
    parent: &'a P,
    /// The begin: objects that were applied since are desired.
    began: u64,
}

impl<P: Watched> ApplySet<'_, P> {
    /// Applies an object that the parent owns: see [`Children::apply`]. Its owner reference, the labels that
    /// the cache selects by and, where it names none, its namespace are set. Objects of a cache that
    /// [`watches`](crate::Controller::watches) returns have no owner.
    ///
    /// # Errors
    ///
    /// Those of [`Children::apply`]. Return the error from the reconcile, because an incomplete set must
    /// not be pruned.
    pub async fn apply<C: Watched>(&mut self, children: &Children<C>, desired: &impl Desired<C>) -> Result<C, Error> {
        children.apply_of(Some(&Owner::of(self.parent)?), desired).await
    }

    /// Deletes the objects that the parent owns, that this operator has applied some time, and that were
    /// not applied in this reconcile, be it by [`Children::apply`]. The operator's role needs `delete` on
    /// these kinds.
    ///
    /// Only objects that are watched are seen. Those of a kind that the controller does not own any more,
    /// or that lack the labels by which it is watched, stay: an operator that changes either has to delete
    /// them itself.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] if the API server refuses.
    pub async fn prune(self) -> Result<(), Error> {
        let all = lock(&self.owned.0).clone();
        for children in all {
            children.prune(self.parent, self.began).await?;
        }
        Ok(())
    }
}
