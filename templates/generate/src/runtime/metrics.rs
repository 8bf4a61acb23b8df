//! Metrics under controller-runtime's names, so that its dashboards and alerts work as they are.

use super::{Action, Error, Failure};
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use std::time::Instant;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Controller {
    controller: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Outcome {
    controller: String,
    result: &'static str,
}

pub struct Metrics {
    registry: Registry,
    reconciles: Family<Outcome, Counter>,
    errors: Family<Controller, Counter>,
    panics: Family<Controller, Counter>,
    duration: Family<Controller, Histogram, fn() -> Histogram>,
    active: Family<Controller, Gauge>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("controller_runtime");
        let reconciles = Family::<Outcome, Counter>::default();
        let errors = Family::<Controller, Counter>::default();
        let panics = Family::<Controller, Counter>::default();
        let duration = Family::<Controller, Histogram, fn() -> Histogram>::new_with_constructor(|| {
            Histogram::new([0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0])
        });
        let active = Family::<Controller, Gauge>::default();
        registry.register("reconcile", "Reconciliations per controller and result", reconciles.clone());
        registry.register("reconcile_errors", "Failed reconciliations per controller", errors.clone());
        registry.register("reconcile_panics", "Panics in reconciliations per controller", panics.clone());
        registry.register("reconcile_time_seconds", "Length of a reconciliation", duration.clone());
        registry.register("active_workers", "Reconciliations now running", active.clone());
        Self { registry, reconciles, errors, panics, duration, active }
    }
}

impl Metrics {
    /// Times one reconcile and counts its result.
    pub async fn observe<E: Failure>(
        &self,
        controller: &str,
        reconcile: impl Future<Output = Result<Action, E>>,
    ) -> Result<Action, E> {
        let labels = Controller { controller: controller.to_owned() };
        let start = Instant::now();
        self.active.get_or_create(&labels).inc();
        let out = reconcile.await;
        self.active.get_or_create(&labels).dec();
        self.duration.get_or_create(&labels).observe(start.elapsed().as_secs_f64());
        let result = match &out {
            Ok(action) if *action == Action::await_change() => "success",
            Ok(_) => "requeue_after",
            Err(_) => "error",
        };
        self.reconciles.get_or_create(&Outcome { controller: controller.to_owned(), result }).inc();
        if let Err(error) = &out {
            self.errors.get_or_create(&labels).inc();
            if error.reason() == Error::Panic(String::new()).reason() {
                self.panics.get_or_create(&labels).inc();
            }
        }
        out
    }

    /// All metrics, in the OpenMetrics text format.
    pub fn encode(&self) -> String {
        let mut out = String::new();
        text::encode(&mut out, &self.registry).expect("writing to a String cannot fail");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reconciles_are_counted_under_the_names_of_controller_runtime() {
        let metrics = Metrics::default();
        metrics.observe::<Error>("memcached", async { Ok(Action::await_change()) }).await.unwrap();
        metrics.observe("memcached", async { Err(Error::Panic("boom".into())) }).await.unwrap_err();
        let text = metrics.encode();
        for line in [
            "controller_runtime_reconcile_total{controller=\"memcached\",result=\"success\"} 1",
            "controller_runtime_reconcile_total{controller=\"memcached\",result=\"error\"} 1",
            "controller_runtime_reconcile_errors_total{controller=\"memcached\"} 1",
            "controller_runtime_reconcile_panics_total{controller=\"memcached\"} 1",
            "controller_runtime_reconcile_time_seconds_count{controller=\"memcached\"} 2",
            "controller_runtime_active_workers{controller=\"memcached\"} 0",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
    }
}
