//! The names that the in-memory API server had when it was part of these tests. New tests should use
//! `runtime::testing`.
#![allow(dead_code)] // not every test uses everything

use operator::runtime::{Env, NAME};
use runtime::{Identity, testing};
use serde::Serialize;

pub use testing::{Write, resource};

/// An API server with these objects.
#[derive(Clone, Default)]
pub struct Cluster(testing::Cluster);

impl Cluster {
    /// Adds objects of a resource, such as `deployments.apps` or `pods`.
    pub fn with(self, resource: &str, objects: &[impl Serialize]) -> Self {
        Self(self.0.with(resource.trim_end_matches('.'), objects))
    }

    /// Refuses writes to this resource as invalid.
    pub fn refusing(self, resource: &str) -> Self {
        Self(self.0.refusing(resource.trim_end_matches('.')))
    }

    /// The writes so far, but for those that only note on an object of before what was applied to it.
    pub fn writes(&self) -> Vec<Write> {
        self.0.writes().into_iter().filter(|it| !it.is_note).collect()
    }

    /// Counts the writes to a resource.
    pub fn count(&self, what: &str) -> usize {
        self.writes().iter().filter(|it| it.what == what).count()
    }

    /// The argument of a controller's `run`.
    pub fn env(&self) -> Env {
        self.0.operator_as(Identity { name: NAME, version: env!("CARGO_PKG_VERSION") })
    }

    /// Runs a controller until it has reconciled this many times, and a little longer. Returns its writes.
    pub async fn run<F, Fut>(&self, reconciles: u64, controller: F) -> Vec<String>
    where
        F: FnOnce(Env) -> Fut,
        Fut: Future<Output = anyhow::Result<()>> + Send + 'static,
    {
        let env = self.env();
        self.0.run_as(env, reconciles, controller).await;
        self.writes().into_iter().map(|it| it.what).collect()
    }
}
