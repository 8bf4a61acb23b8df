//! What the others import.

pub use kube::CustomResource;
pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};

pub use super::shared::Shared as Reexported;
