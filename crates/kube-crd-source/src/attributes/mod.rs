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
    Entry, ensure_alone, name_of, parse_entries, parse_list, parse_metas, set_once, string_of,
    syn_error, value_of,
};
