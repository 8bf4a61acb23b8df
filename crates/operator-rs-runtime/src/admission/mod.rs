//! Admission: code of the operator that completes objects and checks them before they are stored. kube has the types of
//! a review; this reads it within limits, and answers whatever happens.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use runtime::admission::{Defaulter, Denied, Request, Validator, Verdict};
//!
//! struct ConfigMapDefaulter;
//!
//! impl Defaulter for ConfigMapDefaulter {
//!     type Object = ConfigMap;
//!
//!     async fn default(&self, object: &mut ConfigMap, _: &Request) -> Verdict {
//!         object.data.get_or_insert_default().entry("size".into()).or_insert("1".into());
//!         Ok(())
//!     }
//! }
//!
//! struct ConfigMapValidator;
//!
//! impl Validator for ConfigMapValidator {
//!     type Object = ConfigMap;
//!
//!     async fn update(&self, old: &ConfigMap, new: &ConfigMap, request: &Request) -> Verdict {
//!         if new.data.is_none() {
//!             request.warn("a ConfigMap without data is of no use");
//!         }
//!         let mut denied = Denied::invalid();
//!         if old.data != new.data {
//!             denied.at("data", "cannot change");
//!         }
//!         denied.verdict()
//!     }
//! }
//!
//! let webhooks = vec![
//!     runtime::defaulting("/mutate--v1-configmap", ConfigMapDefaulter),
//!     runtime::validating("/validate--v1-configmap", ConfigMapValidator),
//! ];
//! ```

mod denied;
mod merge;
mod objects;
mod place;
mod request;
mod review;
#[cfg(test)]
mod tests;

use crate::{Start, webhooks::Webhook};
use futures::FutureExt;
use kube::Resource;
use objects::{Objects, to_value};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::sync::Arc;

pub use denied::{Denied, Verdict};
pub use request::{Operation, Request};

/// Completes objects before they are validated and stored.
///
/// The API server may call it more than once for an object, so a second call must change nothing. An object that
/// cannot be read as `Object` passes unchanged: the schema of the CRD refuses it and names the field.
pub trait Defaulter: Send + Sync + 'static {
    /// The kind. The webhook must be registered for this version of it.
    type Object: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Completes an object that is created or updated. Fields that `Object` does not know stay as they are.
    fn default(&self, object: &mut Self::Object, request: &Request) -> impl Future<Output = Verdict> + Send;
}

/// Checks objects before they are stored. Every method allows the request unless you write it.
///
/// An update of an object that is being deleted is allowed unasked if it changes nothing but metadata: a validator that
/// became stricter would keep its finalizers from being removed.
pub trait Validator: Send + Sync + 'static {
    /// The kind. The webhook must be registered for this version of it.
    type Object: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static;

    /// Checks an object that is created, or that replaces one that cannot be read as `Object`.
    fn create(&self, object: &Self::Object, request: &Request) -> impl Future<Output = Verdict> + Send {
        let _ = (object, request);
        async { Ok(()) }
    }

    /// Checks a change of an object.
    fn update(
        &self,
        old: &Self::Object,
        new: &Self::Object,
        request: &Request,
    ) -> impl Future<Output = Verdict> + Send {
        let _ = (old, new, request);
        async { Ok(()) }
    }

    /// Checks the deletion of an object. It is called only if the webhook is registered for `DELETE`.
    fn delete(&self, object: &Self::Object, request: &Request) -> impl Future<Output = Verdict> + Send {
        let _ = (object, request);
        async { Ok(()) }
    }
}

/// A webhook that completes objects, served at this path.
pub fn defaulting<D: Defaulter>(path: &str, defaulter: D) -> Start {
    let defaulter = Arc::new(defaulter);
    let review = Arc::new(move |operator, call| {
        let defaulter = defaulter.clone();
        review::answer::<D::Object, _>(operator, call, async move |request: Arc<Request>, objects| {
            default(&*defaulter, &request, &objects).await
        })
        .boxed()
    });
    Webhook::Admission { path: path.to_owned(), review }.into()
}

/// A webhook that checks objects, served at this path.
pub fn validating<V: Validator>(path: &str, validator: V) -> Start {
    let validator = Arc::new(validator);
    let review = Arc::new(move |operator, call| {
        let validator = validator.clone();
        review::answer::<V::Object, _>(operator, call, async move |request: Arc<Request>, objects| {
            validate(&*validator, &request, &objects).await.map(|()| None)
        })
        .boxed()
    });
    Webhook::Admission { path: path.to_owned(), review }.into()
}

/// The JSON patch, if anything changes.
async fn default<D: Defaulter>(defaulter: &D, request: &Request, objects: &Objects) -> Result<Option<Vec<u8>>, Denied> {
    let is_write = matches!(request.operation, Operation::Create | Operation::Update);
    if !is_write || objects.only_metadata_of_deleted() {
        return Ok(None);
    }
    let Ok(mut object) = objects.desired::<D::Object>() else { return Ok(None) };
    let before = to_value(&object)?;
    defaulter.default(&mut object, request).await?;
    let after = to_value(&object)?;
    let raw: Value = objects.desired()?;
    let patch = json_patch::diff(&raw, &merge::merge(&raw, &before, &after));
    Ok((!patch.0.is_empty()).then(|| serde_json::to_vec(&patch).expect("a patch is JSON")))
}

async fn validate<V: Validator>(validator: &V, request: &Request, objects: &Objects) -> Verdict {
    match request.operation {
        Operation::Create => validator.create(&objects.desired()?, request).await,
        Operation::Update if objects.only_metadata_of_deleted() => Ok(()),
        Operation::Update => {
            let new = objects.desired()?;
            match objects.current() {
                Ok(old) => validator.update(&old, &new, request).await,
                Err(_) => validator.create(&new, request).await,
            }
        }
        Operation::Delete => match objects.current() {
            Ok(old) => validator.delete(&old, request).await,
            Err(why) => {
                request.warn(format!("deleted without the check of `{}`: {why}", request.kind.kind));
                Ok(())
            }
        },
        Operation::Connect => Err(Denied::bad_request("a connection has no object to check")),
    }
}
