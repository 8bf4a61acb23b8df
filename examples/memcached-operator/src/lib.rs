//! The operator as a library, which `main` and the tests use.

// Every controller publishes events about its objects:
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
pub mod controller;
// +operator-rs:scaffold:modules

pub use operator_rs_runtime::{Error, Result};

/// What the operator runs: its controllers, and the webhooks that it serves.
pub fn all() -> Vec<operator_rs_runtime::Component> {
    let parts = vec![
        controller::all(),
        // +operator-rs:scaffold:parts
    ];
    parts.into_iter().flatten().collect()
}
