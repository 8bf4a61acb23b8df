//! One module for each kind that is reconciled.

// +operator-rs:scaffold:controllers

/// Every controller of this operator.
pub fn all() -> Vec<operator_rs_runtime::Component> {
    vec![
        // +operator-rs:scaffold:run
    ]
}
