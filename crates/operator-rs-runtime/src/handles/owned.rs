//! The handle of the objects of one kind that primary objects own.

use crate::{
    Error,
    cache::{CacheRef, Children, Desired, Owner, Watchable},
};
use std::{marker::PhantomData, sync::Arc};

/// The objects of a kind that `K`s own. [`Controller::owns`](crate::Controller::owns) and
/// [`Controller::owns_by_annotation`](crate::Controller::owns_by_annotation) return it.
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use operator_rs_runtime::{Dependents, Error, Owned};
///
/// async fn apply_all(
///     owner: &Deployment,
///     configs: &Owned<ConfigMap, Deployment>,
///     dependents: &Dependents<Deployment>,
///     desired: Vec<ConfigMap>,
/// ) -> Result<(), Error> {
///     for config in &desired {
///         configs.apply(owner, config).await?;
///     }
///     dependents.prune(owner).await
/// }
/// ```
///
/// The owner has to be of the kind that the controller reconciles:
///
/// ```compile_fail,E0308
/// # use k8s_openapi::api::{apps::v1::Deployment, core::v1::{ConfigMap, Service}};
/// # use operator_rs_runtime::{Error, Owned};
/// # async fn apply(service: &Service, configs: &Owned<ConfigMap, Deployment>, config: &ConfigMap) -> Result<(), Error> {
/// configs.apply(service, config).await?; // `configs` is an `Owned<ConfigMap, Deployment>`
/// #     Ok(())
/// # }
/// ```
pub struct Owned<C, K> {
    cache: Arc<Children<C>>,
    owner: PhantomData<fn(&K)>,
}

impl<C, K> Clone for Owned<C, K> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone(), owner: PhantomData }
    }
}

impl<'a, C, K> From<&'a Owned<C, K>> for CacheRef<'a, C> {
    fn from(handle: &'a Owned<C, K>) -> Self {
        Self(&handle.cache)
    }
}

impl<C: Watchable, K: Watchable> Owned<C, K> {
    pub(crate) fn new(cache: Arc<Children<C>>) -> Self {
        Self { cache, owner: PhantomData }
    }

    /// Returns an object by its name, and by its namespace if it has one, as it was last seen or written.
    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<C> {
        self.cache.get(namespace, name)
    }

    /// Returns the objects that `owner` owns, sorted by name. Objects that this process has deleted are left out, and
    /// so are those whose owner reference names an earlier object with the owner's name.
    pub fn owned_by(&self, owner: &K) -> Vec<C> {
        self.cache.objects_of_parent(owner)
    }

    /// Applies `desired` as an object that `owner` owns, and returns the resulting object. If the cluster has it
    /// already, no request is sent. Fields that are no longer desired are removed, fields that other field managers
    /// have added are kept, and changes by others to desired fields are undone.
    ///
    /// `apply` sets the labels that the watch selects by and the owner reference; where `desired` has no namespace, it
    /// sets that of the owner. With [`owns_by_annotation`](crate::Controller::owns_by_annotation), it sets the
    /// annotations that name the owner, and `desired` has to name its namespace. After `apply` has returned, no
    /// reconcile sees an older state of the object.
    ///
    /// # Errors
    ///
    /// - [`Error::NotOwned`] if an object with this name exists that has another owner or none; it is not changed
    /// - [`Error::StaleOwner`] if its owner was an earlier object with the name of `owner`
    /// - [`Error::CannotOwn`] if `owner` cannot own `desired`, or `desired` names another controller
    /// - [`Error::Unselected`] if the watch would not show the object
    /// - [`Error::MissingField`] if `desired` has no name or namespace, or `owner` has no uid
    /// - [`Error::Kube`] if the API server refuses the object
    pub async fn apply(&self, owner: &K, desired: &impl Desired<C>) -> Result<C, Error> {
        self.cache.apply_owned(&Owner::new(owner)?, desired).await
    }
}
