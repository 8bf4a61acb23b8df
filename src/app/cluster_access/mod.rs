//! Flags that name a cluster, and what several commands do on one.

pub mod cluster_args;
pub mod credential_plugin;
pub mod olm_namespace;
pub mod removal;
pub mod shipped;
