//! The API group `web.example.com`.

pub mod v1alpha1;
// +operator-rs:scaffold:versions
