//! Applies fields of objects that several clients share, as a field manager that the caller names. It takes fields from
//! other field managers only if the caller asks for that. kube sends a request even if nothing has changed.

use super::{Children, Watchable, entry::fast_hash, lock, object_key};
use crate::error::Error;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Patch, PatchParams};
use serde::Serialize;
use serde_json::Value;

/// A field manager for objects that several clients share: each owns the fields that it applies.
///
/// If two primaries each own a key of one ConfigMap, let each be a field manager. Then neither removes the key of the
/// other:
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use kube::ResourceExt;
/// use operator_rs_runtime::{Error, FieldManager, Owned, Watched};
///
/// async fn share(owner: &Deployment, shared: &Watched<ConfigMap, Deployment>, ours: &ConfigMap) -> Result<(), Error> {
///     let manager = FieldManager::new(format!("sites/{}", owner.uid().unwrap_or_default()));
///     manager.apply(shared, ours).await?; // `Conflict` if another field manager has set a key to another value
///     Ok(())
/// }
/// ```
///
/// A field that an operator has applied and leaves out later is reset: `replicas` to 1. To leave it to an autoscaler,
/// let another field manager own the present number first:
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use operator_rs_runtime::{Error, FieldManager, Owned, Watched};
/// use serde_json::json;
///
/// /// `desired` is without `replicas`.
/// async fn apply_without_replicas(site: &ConfigMap, deployments: &Owned<Deployment, ConfigMap>, desired: &Deployment) -> Result<(), Error> {
///     let (name, namespace) = (&desired.metadata.name, &desired.metadata.namespace);
///     let found = deployments.get(namespace.as_deref(), name.as_deref().unwrap_or_default());
///     if let Some(replicas) = found.and_then(|deployment| deployment.spec?.replicas) {
///         let metadata = json!({ "name": name, "namespace": namespace });
///         let number = json!({ "metadata": metadata, "spec": { "replicas": replicas } });
///         FieldManager::new("sites/replicas").apply(deployments, &number).await?;
///     }
///     deployments.apply(site, desired).await?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldManager {
    name: String,
    force: bool,
}

impl FieldManager {
    /// A field manager of this name, which takes no fields from others. It must not be the operator's own name, because
    /// [`Owned::apply`](crate::Owned::apply) uses that one.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), force: false }
    }

    /// Takes fields that other field managers own, instead of failing with a conflict.
    pub fn force(self) -> Self {
        Self { force: true, ..self }
    }

    /// Applies fields of an object in a cache as this field manager. `fields` is an object, or JSON with the fields and
    /// the object's name. An object that does not exist is created, unless `cache` is an [`Owned`](crate::Owned).
    ///
    /// If the same fields were applied before, and the object has not changed since, no request is sent.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] with a conflict if other field managers have set a field to another value, and this one does not
    /// [force](FieldManager::force); [`Error::CannotOwn`] if `cache` is an [`Owned`](crate::Owned), and no primary owns
    /// an object of this name; [`Error::WrongKind`] if the fields are of another kind than the cache.
    pub async fn apply<'a, C: Watchable>(
        &self,
        cache: impl Into<CacheRef<'a, C>>,
        fields: &impl Serialize,
    ) -> Result<C, Error> {
        cache.into().0.apply_as(self, fields).await
    }
}

/// The cache of `C`s behind a handle. See [`FieldManager::apply`].
pub struct CacheRef<'a, C>(pub(crate) &'a Children<C>);

impl<C: Watchable> Children<C> {
    /// Applies fields of an object: see [`FieldManager::apply`].
    pub(crate) async fn apply_as(&self, manager: &FieldManager, fields: &impl Serialize) -> Result<C, Error> {
        let mut body = serde_json::to_value(fields)?;
        let meta: ObjectMeta = serde_json::from_value(body["metadata"].clone())?;
        let name = meta.name.clone().ok_or(Error::MissingField("name"))?;
        let key = object_key(meta.namespace.as_deref(), &name);
        if let Some(kind) = body["kind"].as_str().filter(|kind| *kind != C::kind(&())) {
            return Err(Error::WrongKind { kind: kind.into(), name, expected: C::kind(&()).into() });
        }
        if let Some(object) = body.as_object_mut() {
            object.remove("status");
            object.insert("apiVersion".into(), Value::from(C::api_version(&()).into_owned()));
            object.insert("kind".into(), Value::from(C::kind(&()).into_owned()));
        }
        let fingerprint = fast_hash(&format!("{} {} {body}", manager.name, manager.force));
        let is_owned = match lock(&self.state).entries.get(&key) {
            Some(entry) if entry.shared.contains(&fingerprint) && !entry.is_deleted => {
                return Ok(serde_json::from_str(&entry.json)?);
            }
            Some(entry) => {
                // The uid keeps the request from changing another object with this name.
                if let Some(uid) = &entry.uid {
                    body["metadata"]["uid"] = Value::from(&**uid);
                }
                !entry.parents.is_empty()
            }
            None => false,
        };
        if self.are_owned() && !is_owned {
            let why = "no primary owns it yet: call `Owned::apply` first".to_owned();
            return Err(Error::CannotOwn { kind: C::kind(&()).into(), name, why });
        }
        let mut params = PatchParams::apply(&manager.name);
        params.force = manager.force;
        let lists = lock(&self.state).recent.list_count();
        let after = self.api(meta.namespace.as_deref()).patch(&name, &params, &Patch::Apply(&body)).await?;
        if !self.record_write(&after, None, &body, lists) {
            self.verify_exists(&key).await?;
        }
        let version = after.numeric_version();
        if let Some(entry) = lock(&self.state).entries.get_mut(&key).filter(|entry| entry.version == version) {
            entry.shared.push(fingerprint);
        }
        Ok(after.decode()?)
    }
}
