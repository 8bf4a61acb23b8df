//! Attributes. Each file reads one crate's: schemars', kube's, x_kube's, garde's and validator's.
//!
//! What is unknown or malformed is a problem at its place, as the derive would have it.

pub mod kube;
pub mod limits;
pub mod schemars;
pub mod summary;
pub mod validation;
pub mod x_kube;

pub use crate::text::meta::{
    Entry, alone, entries, error, list, metas, name_of, once, string, value,
};
