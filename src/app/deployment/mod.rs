//! The manifests that go to a cluster: given, rendered, or checked against the source.

pub mod carried;
pub mod given;
pub mod manifest_files;
pub mod rendered;
