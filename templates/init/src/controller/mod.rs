//! One module for each kind that is reconciled.

// +operator-rs:scaffold:controllers

/// Every controller of this operator.
pub fn all() -> Vec<runtime::Start> {
    vec![
        // +operator-rs:scaffold:run
    ]
}
