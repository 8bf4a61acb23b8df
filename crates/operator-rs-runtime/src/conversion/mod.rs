//! Converts objects between the versions of a kind: the webhook `/convert`.
//!
//! The versions convert whole objects by [`From`], through one of the versions, the hub. The API server also sends
//! partial objects: for each field manager of a server-side apply, an object with only the fields that the manager
//! owns, which may lack fields that the type requires. Values for the fields that the schema of the version requires
//! are made up in several variants, each variant is converted, and only the common part of all results is returned. So
//! a conversion has to accept all values that the schema accepts, and must not panic.
//!
//! A conversion may change the labels and annotations of an object, but not the rest of its metadata. Fields that the
//! type of a version does not have are lost. The API server has removed them before, except where the schema has
//! `x-kubernetes-preserve-unknown-fields`.

mod agree;
mod complete;
mod keyed;
mod object;
mod partial;
mod path;
mod review;
mod schema;
mod versions;

pub(crate) use review::Convert;

use versions::ConversionHub;

use crate::{
    Component,
    webhooks::{Call, Webhook, error_response},
};
use http::{Response, StatusCode, header};
use hyper::body::Bytes;
use kube::{CustomResourceExt, Resource};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// Returns the conversion of a kind between its hub `H` and another version `S`, as a part of the operator. All
/// versions of a kind have one hub, by convention the stored version. Each version is converted to the hub and back,
/// and to other versions through the hub. All kinds are converted at `/convert`.
///
/// ```
/// # mod v1 {
/// #     #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
/// #     #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
/// #     pub struct MemcachedSpec { pub replicas: u32 }
/// # }
/// # mod v1alpha1 {
/// #     #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
/// #     #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
/// #     pub struct MemcachedSpec { pub size: u32 }
/// # }
/// impl From<v1alpha1::Memcached> for v1::Memcached {
///     fn from(from: v1alpha1::Memcached) -> Self {
///         let v1alpha1::MemcachedSpec { size } = from.spec;
///         Self { metadata: from.metadata, spec: v1::MemcachedSpec { replicas: size } }
///     }
/// }
///
/// impl From<v1::Memcached> for v1alpha1::Memcached {
///     fn from(from: v1::Memcached) -> Self {
///         let v1::MemcachedSpec { replicas } = from.spec;
///         Self { metadata: from.metadata, spec: v1alpha1::MemcachedSpec { size: replicas } }
///     }
/// }
///
/// let part = operator_rs_runtime::conversion_webhook::<v1::Memcached, v1alpha1::Memcached>();
/// ```
///
/// # Panics
/// If `H` and `S` are not different versions of one kind.
pub fn conversion_webhook<H, S>() -> Component
where
    H: From<S> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
    S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    Webhook::Conversion(Arc::new(ConversionHub::<H>::new::<S>(None))).into()
}

/// Returns the same conversion as [`conversion_webhook`], but keeps the fields of the hub that `S` cannot express in
/// this annotation of the converted objects, such as `example.com/conversion-data`, and restores them when the objects
/// are converted back.
///
/// The annotation has the fields of the hub that differ after a conversion to `S` and back. Lists with
/// `x-kubernetes-list-type: map` are compared item by item, and the order of their items is kept if it differs; another
/// list counts as one field. A field that has been changed in `S` since is not restored. If the annotation would be
/// longer than 200 KiB, the conversion fails.
///
/// # Panics
/// If `H` and `S` are not different versions of one kind.
pub fn lossless_conversion_webhook<H, S>(annotation: &str) -> Component
where
    H: From<S> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
    S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    Webhook::Conversion(Arc::new(ConversionHub::<H>::new::<S>(Some(annotation)))).into()
}

/// Answers a ConversionReview, on a thread that it may block for long.
pub(crate) async fn answer_review(converters: Arc<[Arc<dyn Convert>]>, call: Call) -> Response<Bytes> {
    let answer = move || review::answer_review(&converters, &call.body, call.until.into_std());
    match tokio::task::spawn_blocking(answer).await {
        Ok(Ok(body)) => {
            let mut response = Response::new(Bytes::from(body));
            let json = header::HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
        Ok(Err(why)) => error_response(StatusCode::BAD_REQUEST, &why),
        Err(_) => error_response(StatusCode::INTERNAL_SERVER_ERROR, "the conversion panicked"),
    }
}

#[cfg(doctest)]
mod tests;
