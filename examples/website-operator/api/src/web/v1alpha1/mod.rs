//! Version `v1alpha1` of the API group `web.example.com`.

mod website;
pub use self::website::*;
// +operator-rs:scaffold:kinds
