//! What a controller is given: the client, where to look, and when to stop.

use super::{metrics::Metrics, scope::Namespace};
use kube::Client;
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

#[derive(Clone)]
pub struct Env {
    pub client: Client,
    pub metrics: Arc<Metrics>,
    /// Where this controller looks for objects.
    pub namespace: Namespace,
    /// Cancelled when the operator has to end.
    pub stop: CancellationToken,
    /// Reconciles that may run at once.
    pub concurrency: u16,
    /// The longest that one reconcile may take.
    pub limit: Duration,
}

impl Env {
    pub fn new(client: Client) -> Self {
        Self {
            client,
            metrics: Arc::default(),
            namespace: Namespace::All,
            stop: CancellationToken::new(),
            concurrency: 8,
            limit: Duration::from_secs(60),
        }
    }
}
