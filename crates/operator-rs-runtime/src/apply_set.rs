//! The complete set of objects that a primary desires: those that it owns and that were not applied are
//! deleted. kube has no pruning.

use crate::{
    Error,
    cache::{Children, Desired, Prunes, Watched, key_of, kind},
    lock,
};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

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
        ApplySet { owned: self, parent, kept: HashSet::new() }
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
    kept: HashSet<(String, Box<str>)>,
}

impl<P: Watched> ApplySet<'_, P> {
    /// Applies an object: see [`Children::apply`].
    ///
    /// # Errors
    ///
    /// Those of [`Children::apply`]. Return the error from the reconcile, because an incomplete set must
    /// not be pruned.
    pub async fn apply<C: Watched>(&mut self, children: &Children<C>, desired: &impl Desired<C>) -> Result<C, Error> {
        self.kept.insert((kind::<C>(), key_of(desired)));
        children.apply(desired).await
    }

    /// Deletes the objects that the parent owns and that were not applied, of every kind that the
    /// controller owns. The operator's role needs `delete` on these kinds. Objects that have lost the labels
    /// by which they are watched are not seen, and stay.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] if the API server refuses.
    pub async fn prune(self) -> Result<(), Error> {
        let all = lock(&self.owned.0).clone();
        for children in all {
            children.prune(self.parent, &self.kept).await?;
        }
        Ok(())
    }
}
