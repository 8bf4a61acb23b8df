//! The conversion webhooks of an operator, as its parts.

use crate::{Component, conversion::ConversionHub, webhooks::Webhook};
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
