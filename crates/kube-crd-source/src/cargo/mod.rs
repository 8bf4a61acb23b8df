//! Cargo's files: which packages and crates a workspace has, with which features, and `cfg`.
//!
//! Cargo.toml and Cargo.lock are read as files; cargo is never run. `cargo_toml` reads whole manifests into types,
//! where a few keys are asked for here; `cargo-lock` keeps no lines, which problems name. The larger part, cargo's
//! resolution of features, is in neither. So the files are read here.

pub mod cfg;
mod config;
mod crates;
mod deciding;
mod dependencies;
mod features;
mod kubernetes;
mod lock;
mod lock_check;
mod options;
mod packages;
mod possible_cfgs;
mod published;
mod rustflags;
mod targets;
mod variables;
mod words;
mod workspace;

pub use cfg::{Cfg, Features};
pub use crates::{
    Extern, Krate, collect_crates, crates_without_manifest, library_crate, link_library,
};
pub use kubernetes::kubernetes_types;
pub use lock::Lock;
pub use lock_check::{LockState, check_lock};
pub use options::{Options, Target};
pub use packages::{PackageId, Packages};
pub use published::Published;
pub use workspace::{Manifest, read_members};
