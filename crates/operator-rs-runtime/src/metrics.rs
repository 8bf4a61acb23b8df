//! Metrics under the names and labels of controller-runtime, so that its dashboards and alerts find
//! their series. kube-runtime has none.

mod procfs;
mod series;

use crate::{Action, Error, ReconcileError};
use prometheus_client::{
    encoding::text,
    registry::{Metric, Registry},
};
use series::{Families, Series, labels};
use std::{
    any::Any,
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

pub use prometheus_client;

/// The metrics of the process.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    families: Families,
    controllers: Mutex<BTreeMap<String, Arc<Series>>>,
    /// Those that the operator has registered, by name.
    registered: Mutex<BTreeMap<String, Box<dyn Any + Send + Sync>>>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(procfs::Process));
        Self {
            families: Families::new(&mut registry),
            registry: registry.into(),
            controllers: Mutex::default(),
            registered: Mutex::default(),
        }
    }
}

impl Metrics {
    /// Adds a metric of your own, at any time, and returns it. If a metric of this name and type is
    /// registered already, it returns that one: a controller that runs once for each namespace has one
    /// metric. Give the name of a counter without `_total`, which is added.
    ///
    /// ```
    /// # let metrics = operator_rs_runtime::metrics::Metrics::default(); // `manager.metrics` in a controller
    /// use operator_rs_runtime::metrics::prometheus_client::metrics::counter::Counter;
    ///
    /// let backups: Counter = metrics.register("backups", "Completed backups", Counter::default());
    /// backups.inc();
    /// assert!(metrics.encode().contains("\nbackups_total 1\n"));
    /// ```
    pub fn register<M: Metric + Clone>(&self, name: &str, help: &str, metric: M) -> M {
        let mut all = crate::lock(&self.registered);
        if let Some(registered) = all.get(name).and_then(|metric| metric.downcast_ref::<M>()) {
            return registered.clone();
        }
        crate::lock(&self.registry).register(name, help, metric.clone());
        all.insert(name.into(), Box::new(metric.clone()));
        metric
    }

    /// The series of a controller. They exist from now on, with the value 0.
    pub fn controller(&self, name: &str) -> ControllerMetrics {
        let mut all = crate::lock(&self.controllers);
        let series = all.entry(name.to_owned()).or_insert_with(|| Arc::new(Series::new(&self.families, name))).clone();
        ControllerMetrics { series, depth: Arc::default() }
    }

    /// Counts a request to the API server, as client-go does: its status code is `<error>` if there
    /// was no answer.
    pub(crate) fn count_request(&self, code: &str, method: &str, host: &str) {
        let labels = labels(&[("code", code), ("method", method), ("host", host)]);
        self.families.requests.get_or_create(&labels).inc();
    }

    /// Sets whether this process holds a Lease.
    pub(crate) fn set_leader(&self, lease: &str, leads: bool) {
        self.families.leader.get_or_create(&labels(&[("name", lease)])).set(leads.into());
    }

    /// All metrics, in the OpenMetrics text format.
    pub fn encode(&self) -> String {
        crate::lock(&self.controllers).values().for_each(|series| series.measure());
        let mut out = String::new();
        let registry = crate::lock(&self.registry);
        text::encode(&mut out, &registry).expect("writing to a String cannot fail");
        out
    }
}

/// The metrics of one controller; cheap to clone and to call.
#[derive(Clone, Debug)]
pub struct ControllerMetrics {
    series: Arc<Series>,
    /// This controller's share: one that runs for each namespace has the same series in all.
    depth: Arc<AtomicI64>,
}

impl ControllerMetrics {
    /// Adds to the number of reconciles that may run at once.
    pub(crate) fn max_concurrent(&self, reconciles: u16) {
        self.series.max_concurrent.inc_by(reconciles.into());
    }

    /// A key was added to the queue.
    pub(crate) fn queue_added(&self) {
        self.series.adds.inc();
    }

    /// The queue has this length now.
    pub(crate) fn queue_depth(&self, depth: i64) {
        self.series.depth.inc_by(depth - self.depth.swap(depth, Relaxed));
    }

    /// A key was taken from the queue after this time.
    pub(crate) fn queue_taken(&self, waited: Duration) {
        self.series.queue_time.observe(waited.as_secs_f64());
    }

    /// The reconcile of a key that was taken from the queue has ended after this time.
    pub(crate) fn queue_done(&self, worked: Duration) {
        self.series.work_time.observe(worked.as_secs_f64());
    }

    /// A key will be added to the queue again after a pause.
    pub(crate) fn queue_retry(&self) {
        self.series.retries.inc();
    }

    /// A failure is not retried before the object changes, because it cannot be decoded.
    pub(crate) fn terminal_error(&self) {
        self.series.terminal_errors.inc();
    }

    /// Times one reconcile, of whatever controller, and counts whether it has succeeded.
    ///
    /// # Errors
    /// Those of the reconcile.
    pub async fn observe<T, E>(&self, reconcile: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        self.count_result(reconcile, |outcome| if outcome.is_ok() { Outcome::Success } else { Outcome::Failure }).await
    }

    /// Times one reconcile of a controller of this crate and counts its result.
    pub(crate) async fn observe_reconcile<E: ReconcileError>(
        &self,
        reconcile: impl Future<Output = Result<Action, E>>,
    ) -> Result<Action, E> {
        let outcome = |result: &Result<Action, E>| match result {
            Ok(action) if *action == Action::await_change() => Outcome::Success,
            Ok(_) => Outcome::RequeueAfter,
            Err(error) if error.reason() == Error::Panic(String::new()).reason() => Outcome::Panic,
            Err(error) if error.reason() == Error::Timeout(Duration::ZERO).reason() => Outcome::Timeout,
            Err(_) => Outcome::Failure,
        };
        self.count_result(reconcile, outcome).await
    }

    async fn count_result<T>(&self, reconcile: impl Future<Output = T>, outcome: impl FnOnce(&T) -> Outcome) -> T {
        let running = ActiveReconcile::begin(&self.series);
        let result = reconcile.await;
        self.series.time.observe(running.since.elapsed().as_secs_f64());
        let [success, requeue_after, failure, _] = &self.series.results;
        let outcome = outcome(&result);
        match outcome {
            Outcome::Success => success.inc(),
            Outcome::RequeueAfter => requeue_after.inc(),
            Outcome::Failure | Outcome::Panic | Outcome::Timeout => {
                self.series.errors.inc();
                failure.inc()
            }
        };
        match outcome {
            Outcome::Panic => drop(self.series.panics.inc()),
            Outcome::Timeout => drop(self.series.timeouts.inc()),
            _ => {}
        }
        result
    }
}

/// The result of a reconcile.
#[derive(Clone, Copy)]
enum Outcome {
    Success,
    RequeueAfter,
    Failure,
    Panic,
    Timeout,
}

/// A reconcile that runs, until this is dropped.
struct ActiveReconcile<'a> {
    series: &'a Series,
    since: Instant,
}

impl<'a> ActiveReconcile<'a> {
    fn begin(series: &'a Series) -> Self {
        let since = Instant::now();
        series.active.inc();
        crate::lock(&series.running).push(since);
        Self { series, since }
    }
}

impl Drop for ActiveReconcile<'_> {
    fn drop(&mut self) {
        self.series.active.dec();
        let mut running = crate::lock(&self.series.running);
        if let Some(at) = running.iter().position(|since| *since == self.since) {
            running.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests;
