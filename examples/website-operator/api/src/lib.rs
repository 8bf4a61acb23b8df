//! The API types of this operator. Clients can depend on this crate: it has no HTTP or TLS dependencies.

mod crds;
pub use crds::crds;

pub mod web;
// +operator-rs:scaffold:groups
