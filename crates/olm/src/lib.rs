//! Bundles and catalogs of the Operator Lifecycle Manager, and its objects on a cluster.
//!
//! Given rendered manifests and metadata, [`bundle`] gives the files of a bundle with its ClusterServiceVersion;
//! given a bundle's files, its findings, with the verdicts of `operator-sdk bundle validate`, and what an upgrade
//! from another bundle would break. [`catalog`] renders, extends and validates file-based catalogs as `opm` does.
//! [`lifecycle`] gives the objects that make OLM install, upgrade or remove an operator, and reads from its objects
//! how far it is. Files are values: nothing here reads a disk or sends requests.

pub mod bundle;
pub mod catalog;
pub mod lifecycle;
