//! One module for each kind that is reconciled.

pub mod website;
// +operator-rs:scaffold:controllers

/// Every controller of this operator.
pub fn all() -> Vec<runtime::Start> {
    vec![
        runtime::per_namespace(website::run),
        // +operator-rs:scaffold:run
    ]
}
