//! Admission webhooks: code of the operator that completes and checks objects before they are stored. kube has the
//! types of a review. This module reads a review within limits, and answers it even if the code panics or takes too
//! long.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use operator_rs_runtime::admission::{Defaulter, FieldErrors, Request, Validator, Verdict};
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
//!         let mut errors = FieldErrors::default();
//!         if old.data != new.data {
//!             errors.add("data", "cannot change");
//!         }
//!         errors.into_verdict()
//!     }
//! }
//!
//! let webhooks = vec![
//!     operator_rs_runtime::mutating_webhook("/mutate--v1-configmap", ConfigMapDefaulter),
//!     operator_rs_runtime::validating_webhook("/validate--v1-configmap", ConfigMapValidator),
//! ];
//! ```

mod denied;
mod merge;
mod objects;
mod place;
mod request;
mod review;
pub(crate) mod webhook;
#[cfg(test)]
mod tests;

use kube::Resource;
use serde::{Serialize, de::DeserializeOwned};

pub use denied::{Denied, FieldErrors, Verdict};
pub use request::{Operation, Request};

/// Completes objects before they are validated and stored.
///
/// The API server may call the webhook more than once for an object, so a second call must change nothing. An object
/// that cannot be read as `Object` passes unchanged: the schema of the CRD refuses it and names the field.
pub trait Defaulter: Send + Sync + 'static {
    /// The kind. The webhook must be registered for this version of it.
    type Object: Resource<DynamicType = ()> + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Completes an object that is created or updated. Fields that `Object` does not know stay as they are.
    fn default(&self, object: &mut Self::Object, request: &Request) -> impl Future<Output = Verdict> + Send;
}

/// Checks objects before they are stored. By default, every method allows the request.
///
/// If an object is being deleted, an update that changes only metadata is allowed without a call: otherwise a validator
/// that became stricter would prevent the removal of its finalizers.
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
