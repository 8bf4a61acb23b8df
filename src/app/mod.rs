//! Shared by several commands, below the command line: reading a project, deriving manifests, rendering, removing,
//! compiling, images, and the modes of output. Nothing here knows which command calls it.

pub mod cargo;
pub mod charts;
pub mod cluster_access;
pub mod compile;
pub mod config;
pub mod crds;
pub mod deployment;
pub mod environment;
pub mod findings;
pub mod generation;
pub mod images;
pub mod output;
pub mod scaffolding;
