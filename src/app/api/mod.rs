//! What `create api` adds for one version of a kind, and `delete api` removes.

pub mod context;
pub mod foreign;
pub mod place;
