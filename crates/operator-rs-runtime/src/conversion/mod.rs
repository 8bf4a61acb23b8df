//! Conversion of objects between the versions of a kind: the webhook `/convert`.
//!
//! The versions convert by [`From`], whole objects, through one of them, the hub. The API server also sends partial
//! objects: for each field manager of a server-side apply, the fields that the manager has, without those that the type
//! requires. What is missing by the schema of its version is made up in several ways, each result is converted, and
//! only what all conversions agree on is returned. So a conversion has to accept all values that the schema accepts,
//! and must not panic.
//!
//! Of the metadata, a conversion may change labels and annotations; the rest stays as it is. Fields that the type of
//! a version does not have are lost, as in each other version; the API server has removed them before, except where
//! the schema has `x-kubernetes-preserve-unknown-fields`.

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

use versions::Hub;

use crate::{
    Component,
    webhooks::{Call, Webhook, refuse},
};
use http::{Response, StatusCode, header};
use hyper::body::Bytes;
use kube::{CustomResourceExt, Resource};
use serde::{Serialize, de::DeserializeOwned};
use std::sync::Arc;

/// The conversion of a kind between its hub `H` and another version `S`, a part of the operator. All versions of a kind
/// have one hub, by convention the one that is stored: each is converted to it and back, and to others through it. All
/// kinds are converted at `/convert`.
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
/// If the two are not different versions of one kind.
pub fn conversion_webhook<H, S>() -> Component
where
    H: From<S> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
    S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    Webhook::Conversion(Arc::new(Hub::<H>::new::<S>(None))).into()
}

/// As [`conversion_webhook`], but the fields of the hub that `S` cannot express are kept in this annotation of the converted
/// objects, such as `example.com/conversion-data`, and restored when the objects are converted back.
///
/// The annotation has the fields of the hub that differ after a conversion to `S` and back. Lists with
/// `x-kubernetes-list-type: map` are compared item by item, and the order of their items is kept if it differs; another
/// list counts as one field. A field that was changed in `S` since is not restored. If the annotation would be longer
/// than 200 KiB, the conversion fails.
///
/// # Panics
/// If the two are not different versions of one kind.
pub fn lossless_conversion_webhook<H, S>(annotation: &str) -> Component
where
    H: From<S> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned + 'static,
    S: From<H> + Resource<DynamicType = ()> + CustomResourceExt + Serialize + DeserializeOwned,
{
    Webhook::Conversion(Arc::new(Hub::<H>::new::<S>(Some(annotation)))).into()
}

/// Answers a ConversionReview, on a thread that may be busy for long.
pub(crate) async fn answer(converters: Arc<[Arc<dyn Convert>]>, call: Call) -> Response<Bytes> {
    let answered =
        tokio::task::spawn_blocking(move || review::answer(&converters, &call.body, call.until.into_std())).await;
    match answered {
        Ok(Ok(body)) => {
            let mut response = Response::new(Bytes::from(body));
            let json = header::HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
        Ok(Err(why)) => refuse(StatusCode::BAD_REQUEST, &why),
        Err(_) => refuse(StatusCode::INTERNAL_SERVER_ERROR, "the conversion panicked"),
    }
}

#[cfg(doctest)]
mod tests;
