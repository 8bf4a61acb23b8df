//! The API types of this operator. Clients may depend on this crate: it pulls in no HTTP and no TLS.

mod crds;
pub use crds::crds;

pub mod cache;
// +operator-rs:scaffold:groups
