//! The handles of objects that primary objects do not own, so that a reconcile only reads them.

use crate::cache::{CacheRef, Children, Watchable};
use std::{marker::PhantomData, sync::Arc};

/// Watched objects of a kind that `K`s do not own. [`Controller::watches`](crate::Controller::watches) returns it.
///
/// A reconcile can read them:
///
/// ```
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use operator_rs_runtime::Watched;
///
/// fn names(deployment: &Deployment, configs: &Watched<ConfigMap, Deployment>) -> Vec<Option<String>> {
///     configs.mapped_to(deployment).into_iter().map(|config| config.metadata.name).collect()
/// }
/// ```
///
/// It cannot apply them as its own. To set some of their fields, use a [`FieldManager`](crate::FieldManager).
///
/// ```compile_fail,E0599
/// # use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// # use operator_rs_runtime::{Error, Watched};
/// # async fn apply(
/// #     deployment: &Deployment,
/// #     configs: &Watched<ConfigMap, Deployment>,
/// #     config: &ConfigMap,
/// # ) -> Result<(), Error> {
/// configs.apply(deployment, config).await?; // only `Owned` has `apply`
/// #     Ok(())
/// # }
/// ```
pub struct Watched<C, K> {
    cache: Arc<Children<C>>,
    primary: PhantomData<fn(&K)>,
}

impl<C, K> Clone for Watched<C, K> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone(), primary: PhantomData }
    }
}

impl<'a, C, K> From<&'a Watched<C, K>> for CacheRef<'a, C> {
    fn from(handle: &'a Watched<C, K>) -> Self {
        Self(&handle.cache)
    }
}

impl<C: Watchable, K: Watchable> Watched<C, K> {
    pub(crate) fn new(cache: Arc<Children<C>>) -> Self {
        Self { cache, primary: PhantomData }
    }

    /// Returns an object by its name, and by its namespace if it has one, as it was last seen or written.
    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<C> {
        self.cache.get(namespace, name)
    }

    /// Returns the objects that the function given to [`Controller::watches`](crate::Controller::watches) maps to
    /// `primary`, sorted by name.
    pub fn mapped_to(&self, primary: &K) -> Vec<C> {
        self.cache.objects_of_parent(primary)
    }
}

/// Watched objects of a kind that primary objects refer to. [`Controller::references`](crate::Controller::references)
/// returns it.
///
/// A reconcile can read them:
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use operator_rs_runtime::Referenced;
///
/// fn has_password(secrets: &Referenced<Secret>, namespace: &str, name: &str) -> bool {
///     let secret = secrets.get(Some(namespace), name);
///     secret.and_then(|secret| secret.data).is_some_and(|data| data.contains_key("password"))
/// }
/// ```
///
/// It cannot apply them as its own. To set some of their fields, use a [`FieldManager`](crate::FieldManager).
///
/// ```compile_fail,E0599
/// # use k8s_openapi::api::{apps::v1::Deployment, core::v1::Secret};
/// # use operator_rs_runtime::{Error, Referenced};
/// # async fn apply(deployment: &Deployment, secrets: &Referenced<Secret>, secret: &Secret) -> Result<(), Error> {
/// secrets.apply(deployment, secret).await?; // only `Owned` has `apply`
/// #     Ok(())
/// # }
/// ```
pub struct Referenced<C> {
    cache: Arc<Children<C>>,
}

impl<C> Clone for Referenced<C> {
    fn clone(&self) -> Self {
        Self { cache: self.cache.clone() }
    }
}

impl<'a, C> From<&'a Referenced<C>> for CacheRef<'a, C> {
    fn from(handle: &'a Referenced<C>) -> Self {
        Self(&handle.cache)
    }
}

impl<C: Watchable> Referenced<C> {
    pub(crate) fn new(cache: Arc<Children<C>>) -> Self {
        Self { cache }
    }

    /// Returns an object by its name, and by its namespace if it has one, as it was last seen.
    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<C> {
        self.cache.get(namespace, name)
    }
}
