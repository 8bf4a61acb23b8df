//! Objects, or fields of them, that are not this operator's alone: applied by a field manager of the caller's
//! choice, by force only if the operator chooses to. kube sends a request also where there is nothing to do.

use super::{Children, Link, Watched, entry::fast_hash, key, lock};
use crate::error::Error;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Patch, PatchParams};
use serde::Serialize;
use serde_json::Value;

/// A field manager, for objects that several share: each owns the fields that it applies.
///
/// Two primaries that each own a key of one ConfigMap are two managers. Then neither removes the other's key:
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use kube::ResourceExt;
/// use runtime::{Children, Error, Manager};
///
/// async fn share(parent: &Deployment, shared: &Children<ConfigMap>, ours: &ConfigMap) -> Result<(), Error> {
///     let manager = Manager::new(format!("sites/{}", parent.uid().unwrap_or_default()));
///     shared.apply_as(&manager, ours).await?; // `Conflict` if somebody else has set a key to another value
///     Ok(())
/// }
/// ```
///
/// A field that an operator has applied and leaves out later is reset: `replicas` to 1. To leave it to an autoscaler,
/// let another manager own the present number first:
///
/// ```no_run
/// use k8s_openapi::api::apps::v1::Deployment;
/// use runtime::{Children, Error, Manager};
/// use serde_json::json;
///
/// /// `desired` is without `replicas`.
/// async fn scaled(children: &Children<Deployment>, desired: &Deployment) -> Result<(), Error> {
///     let (name, namespace) = (&desired.metadata.name, &desired.metadata.namespace);
///     let found = children.get(namespace.as_deref(), name.as_deref().unwrap_or_default());
///     if let Some(replicas) = found.and_then(|it| it.spec?.replicas) {
///         let metadata = json!({ "name": name, "namespace": namespace });
///         let number = json!({ "metadata": metadata, "spec": { "replicas": replicas } });
///         children.apply_as(&Manager::new("sites/replicas"), &number).await?;
///     }
///     children.apply(desired).await?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    name: String,
    force: bool,
}

impl Manager {
    /// A manager of this name, which takes no fields from others. It must not be the operator's own name,
    /// which [`Children::apply`] uses.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), force: false }
    }

    /// Takes fields from others.
    pub fn force(self) -> Self {
        Self { force: true, ..self }
    }
}

impl<C: Watched> Children<C> {
    /// Applies fields of an object as a manager of their own: an object, or JSON with the fields and the
    /// object's name. An object that is not there is created, unless primaries own these objects.
    ///
    /// No request is sent while the object is as this process has seen it after the last one.
    ///
    /// # Errors
    ///
    /// [`Error::Kube`] with a conflict if others have set a field to another value, and the manager does not
    /// [force](Manager::force); [`Error::CannotOwn`] if no primary has applied an object that needs an owner.
    pub async fn apply_as(&self, manager: &Manager, fields: &impl Serialize) -> Result<C, Error> {
        let mut body = serde_json::to_value(fields)?;
        let meta: ObjectMeta = serde_json::from_value(body["metadata"].clone())?;
        let name = meta.name.clone().ok_or(Error::Missing("name"))?;
        let key = key(meta.namespace.as_deref(), &name);
        if let Some(object) = body.as_object_mut() {
            object.remove("status");
            object.insert("apiVersion".into(), Value::from(C::api_version(&()).into_owned()));
            object.insert("kind".into(), Value::from(C::kind(&()).into_owned()));
        }
        let print = fast_hash(&format!("{} {} {body}", manager.name, manager.force));
        let is_owned = match lock(&self.state).entries.get(&key) {
            Some(entry) if entry.shared.contains(&print) && !entry.is_deleted => {
                return Ok(serde_json::from_str(&entry.json)?);
            }
            Some(entry) => {
                // Another one of this name is not meant.
                if let Some(uid) = &entry.uid {
                    body["metadata"]["uid"] = Value::from(&**uid);
                }
                !entry.parents.is_empty()
            }
            None => false,
        };
        if matches!(self.link, Link::Owner(..)) && !is_owned {
            let why = "no primary owns it yet: call `ApplySet::apply` first".to_owned();
            return Err(Error::CannotOwn { kind: C::kind(&()).into(), name, why });
        }
        let mut params = PatchParams::apply(&manager.name);
        params.force = manager.force;
        let lists = lock(&self.state).recent.lists();
        let after = self.api(meta.namespace.as_deref()).patch(&name, &params, &Patch::Apply(&body)).await?;
        if !self.written(&after, None, &body, lists) {
            self.verify(&key).await?;
        }
        if let Some(entry) = lock(&self.state).entries.get_mut(&key).filter(|it| it.version == after.version()) {
            entry.shared.push(print);
        }
        Ok(after.decode()?)
    }
}
