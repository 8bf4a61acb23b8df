//! The CRDs of a project, of a workspace or of a revision, and how they differ.

pub mod crd_comparison;
pub mod crd_files;
pub mod crd_states;
pub mod declared;
pub mod file_owner;
