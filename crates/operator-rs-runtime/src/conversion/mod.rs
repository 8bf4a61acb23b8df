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

pub(crate) use review::{Convert, answer_review};
pub(crate) use versions::ConversionHub;

#[cfg(doctest)]
mod tests;
