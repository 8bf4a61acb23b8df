//! Shared by several commands, below the command line: reading a project, deriving manifests, rendering, removing,
//! compiling, images, and the modes of output. Nothing here knows which command calls it.

pub mod api;
pub mod binding;
pub mod bundles;
pub mod cargo;
pub mod catalog_source;
pub mod charts;
pub mod cluster_args;
pub mod compile;
pub mod conversions;
pub mod crd_states;
pub mod declared;
pub mod derive;
pub mod findings;
pub mod folder;
pub mod given;
pub mod home;
pub mod images;
pub mod license;
pub mod listing;
pub mod location;
pub mod olm_namespace;
pub mod outcome;
pub mod outputs;
pub mod proxies;
pub mod refusal;
pub mod release_secret;
pub mod removal;
pub mod rendered;
pub mod repository;
pub mod samples;
pub mod shipped;
pub mod stdout;
pub mod support;
pub mod tree_sources;
pub mod webhooks;
