//! The webhooks that the operator serves. `+kubebuilder:webhook` comments say when the API server calls one, and
//! `operator-rs manifests` writes config/webhook/manifests.yaml from them.

// +operator-rs:scaffold:webhooks

/// Every webhook of this operator, with its path.
pub fn all() -> Vec<operator_rs_runtime::Component> {
    vec![
        // +operator-rs:scaffold:serve
    ]
}
