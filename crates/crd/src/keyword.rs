//! Keywords of a schema, and fields of what is like one.

pub use crate::structural::{flag, text};
