//! The operator as a library, which `main` and the tests use.

// Every controller publishes events about its objects:
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
pub mod controller;
pub mod dns;

pub use runtime::{Error, Result};
