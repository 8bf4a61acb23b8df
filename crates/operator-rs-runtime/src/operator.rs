//! The parts that all controllers of an operator share: the client, the settings, the metrics, and when to stop.

use crate::{DryRun, Rights, Watches, metrics::Metrics, readiness::Readiness, scope::Namespace};
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

/// Returns the [`Identity`] of the package that calls the macro.
#[macro_export]
macro_rules! identity {
    () => {
        $crate::Identity { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") }
    };
}

/// Settings of the controllers. The first four are flags of the process; for one controller, change those of its
/// [`Operator`] before the controller is made:
///
/// ```no_run
/// # use std::time::Duration;
/// async fn run(mut operator: runtime::Operator) -> anyhow::Result<()> {
///     operator.settings.batch = Duration::from_secs(1);
///     operator.settings.backoff = Duration::from_secs(5)..=Duration::from_secs(60);
///     let controller = runtime::Controller::<k8s_openapi::api::core::v1::ConfigMap>::new(&operator);
///     // …
/// #   drop(controller);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Number of concurrent reconciles of each controller, at least 1; by default 1.
    pub max_concurrent_reconciles: u16,
    /// Time limit of one reconcile, which is stopped at its next `await`; by default 1 minute.
    pub reconcile_timeout: Duration,
    /// Period after which every object is reconciled again, ± 10 %; by default 10 hours.
    pub sync_period: Duration,
    /// Time limit for filling the caches; by default 2 minutes.
    pub cache_sync_timeout: Duration,
    /// The shortest time from one reconcile of an object to the next one that an event triggers, so that a burst of
    /// events is two of them: its first event is not waited for. By default 100 ms.
    pub batch: Duration,
    /// The pause after the first failure of an object, and the longest one, ± 20 %: it doubles with each failure in
    /// a row. By default from 200 ms to 5 minutes.
    pub backoff: RangeInclusive<Duration>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_concurrent_reconciles: 1,
            reconcile_timeout: Duration::from_secs(60),
            sync_period: Duration::from_secs(10 * 60 * 60),
            cache_sync_timeout: Duration::from_secs(120),
            batch: Duration::from_millis(100),
            backoff: Duration::from_millis(200)..=Duration::from_secs(300),
        }
    }
}

/// The argument of a controller: the client, the namespace to watch, and when to stop.
#[derive(Clone)]
pub struct Operator {
    /// The client of the operator's account.
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
    /// The rights that the controllers need, which they add: what is missing is named all at once.
    pub rights: Rights,
    /// The watches of the process: controllers that get clones of one `Operator` share those with the same type,
    /// namespace, labels and fields. One with another `client` needs its own.
    pub watches: Watches,
    /// The namespace that this controller watches.
    pub namespace: Namespace,
    /// Cancelled when the operator has to stop.
    pub stop: CancellationToken,
    /// Cancelled when this process becomes the leader. Caches are filled before; reconciles start after.
    pub leading: CancellationToken,
    /// The report of a dry run, if this is one: then `client` stores nothing, no event is published, and
    /// controllers end after one pass. Code that changes other systems has to do nothing.
    pub dry_run: Option<DryRun>,
}

impl Operator {
    /// An operator that leads, with the default settings.
    pub fn new(identity: Identity, client: Client) -> Self {
        let leading = CancellationToken::new();
        leading.cancel();
        Self {
            client,
            identity,
            settings: Settings::default(),
            metrics: Arc::default(),
            readiness: Readiness::default(),
            rights: Rights::default(),
            watches: Watches::default(),
            namespace: Namespace::All,
            stop: CancellationToken::new(),
            leading,
            dry_run: None,
        }
    }

    /// The same operator for a dry run, which waits for no Lease.
    pub fn into_dry_run(self) -> Self {
        let report = DryRun::default();
        self.leading.cancel();
        Self { client: report.client(self.client), watches: Watches::default(), dry_run: Some(report), ..self }
    }
}
