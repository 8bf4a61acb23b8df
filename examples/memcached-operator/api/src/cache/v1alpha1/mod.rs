//! Version `v1alpha1` of the API group `cache.example.com`.

mod memcached;
pub use self::memcached::*;
// +operator-rs:scaffold:kinds
