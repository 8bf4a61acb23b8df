//! The runtime of an operator: caches, server-side apply, leader election, metrics and probes. It does
//! not depend on the operator's kinds or on its project.
#![deny(missing_docs)]

#[cfg(feature = "admission")]
pub mod admission;
pub mod client;
pub mod conditions;
pub mod controller;
#[cfg(feature = "conversion")]
pub mod conversion;
pub mod error;
pub mod events;
pub mod finalizer;
pub mod labels;
pub mod metrics;
pub mod operator;
pub mod process;
pub mod readiness;
pub mod scope;

mod action;
mod apply_set;
mod authorize;
mod backoff;
mod cache;
mod certificate;
mod dry_run;
mod explain;
mod flags;
mod leader;
mod lease;
mod limit;
mod queue;
mod secret_hash;
mod rights;
mod server;
mod shutdown;
mod start;
mod telemetry;
mod tls;
#[cfg(any(feature = "admission", feature = "conversion"))]
mod webhooks;
mod worker;

pub use action::Action;
#[cfg(feature = "admission")]
pub use admission::{defaulting, validating};
pub use apply_set::{ApplySet, Owned};
pub use cache::{Children, DESIRED_HASH, Desired, Manager, Parent, Primary, Watch, Watched, Watches};
pub use controller::Controller;
#[cfg(feature = "conversion")]
pub use conversion::{converting, converting_lossless};
pub use dry_run::DryRun;
pub use error::{Cause, Error, Failure, Leftover, Result};
pub use explain::explain;
pub use finalizer::finalizer;
/// The flags of an operator. Flatten them into the arguments of your own program.
///
/// ```
/// #[derive(clap::Parser)]
/// struct Args {
///     #[command(flatten)]
///     flags: runtime::Flags,
/// }
/// let args: Args = clap::Parser::parse_from(["manager", "--leader-elect", "--sync-period=1h30m"]);
/// ```
pub use flags::Flags;
pub use labels::Labels;
pub use operator::{Identity, Operator, Settings};
pub use process::start;
pub use rights::Rights;
pub use secret_hash::secret_hash;
pub use start::{Start, cluster_wide, per_namespace, serve_webhooks};
pub use telemetry::capture_log;
#[cfg(any(feature = "admission", feature = "conversion"))]
pub use webhooks::webhook_service;

/// The lock of a state that no code of users runs under: nothing panics there.
fn lock<T>(state: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
