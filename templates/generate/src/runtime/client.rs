//! The Kubernetes client: who it says it is, and what it retries.

use super::NAME;
use kube::{Client, Config};
use std::env::consts;

/// `kubectl` and the audit log show this (kube sends none by itself).
pub fn user_agent() -> String {
    let arch = match consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{NAME}/{} ({}/{arch})", env!("CARGO_PKG_VERSION"), consts::OS)
}

/// From the pod's service account, or from `$KUBECONFIG`.
pub async fn connect() -> anyhow::Result<Client> {
    let mut config = Config::infer().await?;
    config.headers.push((http::header::USER_AGENT, user_agent().parse()?));
    // One retry policy, and one that shows in logs and metrics: the per-object backoff. kube's own
    // would hide 429s and hold a worker for minutes.
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}
