//! The runtime of an operator: controllers with caches, server-side apply, leader election, metrics and probes. It
//! depends neither on the operator's kinds nor on its project.
//!
//! Start with [`Controller`], the handles that it returns ([`Owned`], [`Watched`], [`Referenced`], [`Primary`],
//! [`Dependents`]), and [`Error`]. The controllers of a process share a [`Manager`].
//!
//! ```no_run
//! use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
//! use operator_rs_runtime::{Action, Controller, Labels, Manager, Owned, Result};
//! use std::{process::ExitCode, sync::Arc};
//!
//! async fn run(manager: Manager) -> Result<()> {
//!     let mut controller = Controller::new(&manager);
//!     let configs = controller.owns(&Labels::from([("app.kubernetes.io/managed-by".into(), "example".into())]));
//!     controller.run(reconcile, configs).await
//! }
//!
//! /// Every Deployment gets a ConfigMap of its name.
//! async fn reconcile(deployment: Arc<Deployment>, configs: Owned<ConfigMap, Deployment>) -> Result<Action> {
//!     let mut config = ConfigMap::default();
//!     config.metadata.name = deployment.metadata.name.clone();
//!     configs.apply(&deployment, &config).await?;
//!     Ok(Action::await_change())
//! }
//!
//! # #[cfg(feature = "flags")]
//! fn start(flags: operator_rs_runtime::Flags) -> ExitCode {
//!     let components = vec![operator_rs_runtime::controller_per_namespace(run)];
//!     operator_rs_runtime::run_manager(operator_rs_runtime::identity!(), flags, components)
//! }
//! ```
#![deny(missing_docs)]
// Without the process around the controllers, some modules are not used.
#![cfg_attr(not(feature = "flags"), allow(dead_code))]

#[cfg(feature = "admission")]
pub mod admission;
pub mod client;
pub mod conditions;
pub mod metrics;

mod action;
mod authorize;
mod backoff;
mod cache;
mod certificate;
mod component;
mod controller;
#[cfg(feature = "conversion")]
mod conversion;
#[cfg(feature = "conversion")]
mod conversion_webhooks;
mod dry_run;
mod error;
mod events;
mod explain;
mod finalizer;
mod flag_values;
#[cfg(feature = "flags")]
mod flags;
mod handles;
mod hash;
mod labels;
mod leader;
mod leader_election;
mod lease;
mod limit;
mod manager;
mod panics;
mod permissions;
#[cfg(feature = "flags")]
mod process;
mod queue;
mod readiness;
mod scope;
mod secret_hash;
mod server;
#[cfg(feature = "flags")]
mod shutdown;
mod telemetry;
mod tls;
#[cfg(all(feature = "flags", any(feature = "admission", feature = "conversion")))]
mod webhook_server;
#[cfg(any(feature = "admission", feature = "conversion"))]
mod webhook_service;
#[cfg(any(feature = "admission", feature = "conversion"))]
mod webhooks;
mod worker;

pub use action::Action;
#[cfg(feature = "admission")]
pub use admission::webhook::{mutating_webhook, validating_webhook};
pub use cache::{CacheRef, Desired, FieldManager, ObjectName, WatchOptions, Watchable, apply_owned};
#[cfg(feature = "flags")]
pub use component::serve_webhooks;
pub use component::{Component, cluster_controller, controller_per_namespace};
pub use controller::Controller;
#[cfg(feature = "conversion")]
pub use conversion_webhooks::{conversion_webhook, lossless_conversion_webhook};
pub use dry_run::DryRun;
pub use error::{Error, ReconcileError, Result, StaleOwner};
pub use events::EventPublisher;
pub use explain::explain;
pub use finalizer::{FinalizerEvent, finalizer};
/// The flags of an operator. Flatten them into the arguments of your own program.
///
/// ```
/// #[derive(clap::Parser)]
/// struct Args {
///     #[command(flatten)]
///     flags: operator_rs_runtime::Flags,
/// }
/// let args: Args = clap::Parser::parse_from(["manager", "--leader-elect", "--sync-period=1h30m"]);
/// ```
#[cfg(feature = "flags")]
pub use flags::Flags;
pub use handles::{Dependents, Owned, Primary, Referenced, Watched};
pub use labels::{Labels, label_selector, label_value};
pub use leader::Leadership;
pub use leader_election::LeaderElection;
pub use manager::{Identity, Manager, Settings};
#[cfg(feature = "flags")]
pub use process::run_manager;
pub use queue::FairQueue;
pub use readiness::{Pending, Readiness};
pub use scope::{NamespaceScope, ResourceScope, WatchNamespaces};
pub use secret_hash::secret_hash;
pub use server::{serve_metrics, serve_probes};
pub use telemetry::capture_log;
/// Tells controllers and servers to stop.
pub use tokio_util::sync::CancellationToken;
#[cfg(any(feature = "admission", feature = "conversion"))]
pub use webhook_service::webhook_service;

/// Locks a state. A poisoned lock is ignored, because only code of this crate holds the lock, and it does not panic.
fn lock<T>(state: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
