//! The parts that all controllers of an operator share: the client, the settings, the metrics, and when to stop.

use crate::{
    DryRun, cache::SharedWatches, metrics::Metrics, permissions::Permissions, readiness::Readiness,
    scope::NamespaceScope,
};
use kube::Client;
use std::{ops::RangeInclusive, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// The name and the version of the operator's package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The package's name. It is the field manager of applied objects, the reporter of events, and the
    /// default name of the Lease.
    pub name: &'static str,
    /// The package's version.
    pub version: &'static str,
}

impl Identity {
    /// The user agent of the operator's requests, which the API server's audit log shows.
    pub fn user_agent(&self) -> String {
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        format!("{}/{} ({}/{arch})", self.name, self.version, std::env::consts::OS)
    }
}

/// Returns the [`Identity`] of the package that calls the macro.
#[macro_export]
macro_rules! identity {
    () => {
        $crate::Identity { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
    };
}

/// One reconcile at a time, the default of controller-runtime, waits for the API server most of the time. Measured with
/// 500 objects that change 20 times a second, from the change to the written Deployment, in the median and at the 99th
/// percentile:
///
/// | at a time | two cores for everything | and 100 ms more for each request | memory |
/// |---|---|---|---|
/// | 1 | 11.8 and 22.9 s | | 12.2 MiB |
/// | 4 | 0.06 and 0.16 s | 20.3 and 34.6 s | 12.7 MiB |
/// | 8 | 0.05 and 0.16 s | 0.24 and 0.80 s | 13.1 MiB |
/// | 16 | 0.05 and 0.14 s | 0.17 and 0.35 s | 13.7 MiB |
///
/// The requests are the same, and those of one object follow each other as before. With 300 ConfigMaps of 500 kB, 16 at a
/// time need more memory than the 64 MiB that a scaffolded operator has.
const MAX_CONCURRENT_RECONCILES: u16 = 8;

/// Settings of the controllers. The first four are flags of the process; for one controller, change those of its
/// [`Manager`] before the controller is made:
///
/// ```no_run
/// # use std::time::Duration;
/// async fn run(mut manager: operator_rs_runtime::Manager) -> operator_rs_runtime::Result<()> {
///     manager.settings.min_reconcile_interval = Duration::from_secs(1);
///     manager.settings.backoff = Duration::from_secs(5)..=Duration::from_secs(60);
///     let controller = operator_rs_runtime::Controller::<k8s_openapi::api::core::v1::ConfigMap>::new(&manager);
///     // …
/// #   drop(controller);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Number of concurrent reconciles of each controller, at least 1; by default 8. They are of different objects:
    /// one object is never reconciled twice at the same time. Set 1 if the reconciles of different objects must not
    /// overlap, for example because they take from one pool.
    pub max_concurrent_reconciles: u16,
    /// Time limit of one reconcile, which is stopped at its next `await`; by default 1 minute.
    pub reconcile_timeout: Duration,
    /// Period after which every object is reconciled again, ± 10 %; by default 10 hours.
    pub sync_period: Duration,
    /// Time limit for filling the caches; by default 2 minutes.
    pub cache_sync_timeout: Duration,
    /// The shortest time from one reconcile of an object to the next one that an event triggers. The first event of a
    /// burst triggers a reconcile at once, and the others together trigger one more. By default 100 ms.
    pub min_reconcile_interval: Duration,
    /// The pause after the first failure of an object, and the longest one, ± 20 %: it doubles with each failure in
    /// a row. By default from 200 ms to 5 minutes.
    pub backoff: RangeInclusive<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_concurrent_reconciles: MAX_CONCURRENT_RECONCILES,
            reconcile_timeout: Duration::from_secs(60),
            sync_period: Duration::from_secs(10 * 60 * 60),
            cache_sync_timeout: Duration::from_secs(120),
            min_reconcile_interval: Duration::from_millis(100),
            backoff: Duration::from_millis(200)..=Duration::from_secs(300),
        }
    }
}

/// The argument of a controller: the client, the namespace to watch, the settings, and the signal to stop. Controllers
/// that get clones of one `Manager` share its watches.
///
/// `run_manager` makes one for the process, and gives each controller a clone. In a test:
///
/// ```no_run
/// # fn sketch(client: kube::Client) {
/// use operator_rs_runtime::{Manager, identity};
///
/// let manager = Manager::new(identity!(), client).in_namespace("default");
/// # }
/// ```
#[derive(Clone)]
pub struct Manager {
    /// The client of the operator's account. For another client, make another manager: controllers share watches.
    pub client: Client,
    /// The name and the version of the operator.
    pub identity: Identity,
    /// Settings of the controllers.
    pub settings: Settings,
    /// The metrics of the process. Register your own metrics here.
    pub metrics: Arc<Metrics>,
    /// The conditions for the process to be ready. Controllers add their caches, which count unless the process serves
    /// webhooks.
    pub readiness: Readiness,
    /// The permissions that the controllers need, added by the controllers. Missing ones are reported all at once.
    pub(crate) permissions: Permissions,
    /// The watches of the process: controllers that get clones of one `Manager` share those with the same type,
    /// namespace, labels and fields.
    pub(crate) watches: SharedWatches,
    /// The namespace that this controller watches.
    pub namespace: NamespaceScope,
    /// Is cancelled when the operator has to stop.
    pub stop: CancellationToken,
    /// Is cancelled when this process becomes the leader. Caches are filled before that, and reconciles start after it.
    pub elected: CancellationToken,
    /// The report, if this is a dry run: then `client` stores nothing, no event is published, and controllers end after
    /// one pass. Code that changes other systems has to do nothing in a dry run.
    pub dry_run: Option<DryRun>,
}

impl Manager {
    /// A manager that leads, watches all namespaces, and has the default settings.
    pub fn new(identity: Identity, client: Client) -> Self {
        let elected = CancellationToken::new();
        elected.cancel();
        Self {
            client,
            identity,
            settings: Settings::default(),
            metrics: Arc::default(),
            readiness: Readiness::default(),
            permissions: Permissions::default(),
            watches: SharedWatches::default(),
            namespace: NamespaceScope::All,
            stop: CancellationToken::new(),
            elected,
            dry_run: None,
        }
    }

    /// The same manager, for controllers of one namespace.
    pub fn in_namespace(self, name: impl Into<String>) -> Self {
        Self { namespace: NamespaceScope::One(name.into()), ..self }
    }

    /// The same manager, whose controllers end when `stop` is cancelled.
    pub fn with_stop(self, stop: CancellationToken) -> Self {
        Self { stop, ..self }
    }

    /// The same manager for a dry run, which waits for no Lease.
    pub fn into_dry_run(self) -> Self {
        let report = DryRun::default();
        self.elected.cancel();
        Self {
            client: report.wrap_client(self.client),
            watches: SharedWatches::default(),
            dry_run: Some(report),
            ..self
        }
    }
}
