//! What the project's `config/` lists and binds.

pub mod listing;
pub mod namespaces;
pub mod references;
pub mod roles;
