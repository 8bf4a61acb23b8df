//! The metrics of webhooks, under the names of controller-runtime. They exist only in a process that has webhooks.

use crate::metrics::Metrics;
use http::Response;
use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram};
use tokio::time::Instant;

type Labels = Vec<(&'static str, String)>;

/// The series of one path.
pub struct Series {
    path: String,
    requests: Family<Labels, Counter>,
    latency: Histogram,
    in_flight: Gauge,
}

/// The buckets of Prometheus' clients.
fn latency() -> Histogram {
    Histogram::new([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0])
}

impl Series {
    pub fn new(metrics: &Metrics, path: &str) -> Self {
        panics(metrics);
        let webhook = vec![("webhook", path.to_owned())];
        let (prefix, times) =
            ("controller_runtime_webhook_", Family::new_with_constructor(latency as fn() -> Histogram));
        let series = Self {
            path: path.to_owned(),
            requests: metrics.register(&format!("{prefix}requests"), "Requests by status code", Family::default()),
            latency: metrics
                .register(&format!("{prefix}latency_seconds"), "Time of an answer", times)
                .get_or_create_owned(&webhook),
            in_flight: metrics
                .register(&format!("{prefix}requests_in_flight"), "Requests that are answered", Family::default())
                .get_or_create_owned(&webhook),
        };
        ["200", "500"].iter().for_each(|it| drop(series.requests.get_or_create(&series.labels(it))));
        series
    }

    /// Times an answer and counts its status code.
    pub async fn observe<T>(&self, answer: impl Future<Output = Response<T>>) -> Response<T> {
        let (start, _running) = (Instant::now(), InFlight::new(&self.in_flight));
        let answer = answer.await;
        self.latency.observe(start.elapsed().as_secs_f64());
        self.requests.get_or_create(&self.labels(answer.status().as_str())).inc();
        answer
    }

    fn labels(&self, code: &str) -> Labels {
        vec![("webhook", self.path.clone()), ("code", code.to_owned())]
    }
}

/// The panics of all webhooks.
pub fn panics(metrics: &Metrics) -> Counter {
    metrics.register("controller_runtime_webhook_panics", "Webhooks that panicked", Counter::default())
}

/// A request that is answered, until this is dropped: the client may go away before.
struct InFlight<'a>(&'a Gauge);

impl<'a> InFlight<'a> {
    fn new(gauge: &'a Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}
