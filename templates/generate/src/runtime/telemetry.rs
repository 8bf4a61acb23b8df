//! Logs, as text for people or as JSON for machines.

use tracing_subscriber::{filter::Targets, fmt, prelude::*};

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

/// What is logged when `RUST_LOG` does not say. (kube-client logs each failed request as an error;
/// who made it logs it, too.)
const LEVELS: &str = "info,kube_client::client::builder=off";

/// `RUST_LOG` selects the levels, e.g. `RUST_LOG=info,operator=debug`.
pub fn init(format: LogFormat) {
    let levels = std::env::var("RUST_LOG").unwrap_or_else(|_| LEVELS.into());
    let filter: Targets = levels.parse().unwrap_or_else(|_| Targets::new().with_default(tracing::Level::INFO));
    let layer = match format {
        LogFormat::Text => fmt::layer().boxed(),
        LogFormat::Json => fmt::layer().json().flatten_event(true).boxed(),
    };
    tracing_subscriber::registry().with(filter).with(layer).init();
}
