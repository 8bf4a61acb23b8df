//! One module for each kind that is reconciled.

pub mod website;
// +operator-rs:scaffold:controllers

/// Every controller of this operator.
pub fn all() -> Vec<operator_rs_runtime::Component> {
    vec![
        operator_rs_runtime::controller_per_namespace(website::run),
        // +operator-rs:scaffold:run
    ]
}
