//! What every controller of this operator shares. Nothing here knows a particular kind; the files
//! in `controller/` do. `operator-rs generate` keeps this folder up to date, so edits belong there.

pub mod backoff;
pub mod cache;
pub mod client;
pub mod conditions;
pub mod controller;
pub mod drift;
pub mod env;
pub mod error;
pub mod events;
pub mod gate;
pub mod guard;
pub mod labels;
pub mod leader;
pub mod manager;
pub mod metrics;
pub mod scope;
pub mod server;
pub mod shutdown;
pub mod telemetry;
pub mod text;
pub mod tls;

mod lease;
mod worker;

pub use cache::{Children, Primary};
pub use controller::Controller;
pub use env::Env;
pub use error::{Error, Failure};
pub use kube::runtime::controller::Action;
pub use labels::Labels;
pub use manager::{Start, cluster_wide, per_namespace};

/// The operator's name: in its User-Agent, as the owner of the fields it sets, and on its Lease.
pub const NAME: &str = env!("CARGO_PKG_NAME");
