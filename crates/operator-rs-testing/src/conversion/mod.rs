//! Tests of conversions between the versions of a kind, with random objects that are made from the schemas.
//!
//! [`check`] converts each object to the other version and back by [`From`], and compares. [`check_partial_objects`]
//! asks the service that the API server asks, with objects that miss fields, as server-side apply sends them.
//!
//! ```
//! use operator_rs_testing::conversion;
//! # mod v1 {
//! #     #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
//! #     #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
//! #     pub struct MemcachedSpec { pub replicas: u32 }
//! # }
//! # mod v1alpha1 {
//! #     #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
//! #     #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
//! #     pub struct MemcachedSpec { pub size: u32 }
//! # }
//! # impl From<v1alpha1::Memcached> for v1::Memcached {
//! #     fn from(from: v1alpha1::Memcached) -> Self {
//! #         Self { metadata: from.metadata, spec: v1::MemcachedSpec { replicas: from.spec.size } }
//! #     }
//! # }
//! # impl From<v1::Memcached> for v1alpha1::Memcached {
//! #     fn from(from: v1::Memcached) -> Self {
//! #         Self { metadata: from.metadata, spec: v1alpha1::MemcachedSpec { size: from.spec.replicas } }
//! #     }
//! # }
//!
//! conversion::check::<v1::Memcached, v1alpha1::Memcached>();
//! ```

mod difference;
mod generate;
mod partial;
mod pattern;
mod random;
mod round_trip;
mod schema;
#[cfg(test)]
mod tests;

pub(crate) use difference::{Comparison, Difference};
pub use generate::ObjectGenerator;
pub use partial::check_partial_objects;
pub(crate) use random::Random;
pub(crate) use round_trip::shrink;
pub use round_trip::{RoundTripCheck, check};
pub(crate) use schema::{lines, value_mut};
