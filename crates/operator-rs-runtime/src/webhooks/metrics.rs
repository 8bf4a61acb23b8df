//! The metrics of webhooks, with the names of controller-runtime. They exist only in a process that has webhooks.

use crate::metrics::Metrics;
use http::Response;
use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram};
use tokio::time::Instant;

type LabelPairs = Vec<(&'static str, String)>;

/// The series of one path.
pub struct Series {
    path: String,
    requests: Family<LabelPairs, Counter>,
    latency: Histogram,
    in_flight: Gauge,
}

/// Returns a histogram with the default buckets of Prometheus' clients.
fn latency_histogram() -> Histogram {
    Histogram::new([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0])
}

impl Series {
    pub fn new(metrics: &Metrics, path: &str) -> Self {
        panic_counter(metrics);
        let webhook = vec![("webhook", path.to_owned())];
        let prefix = "controller_runtime_webhook_";
        let times = Family::new_with_constructor(latency_histogram as fn() -> Histogram);
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
        ["200", "500"].iter().for_each(|code| drop(series.requests.get_or_create(&series.code_labels(code))));
        series
    }

    /// Measures the time of an answer and counts its status code.
    pub async fn observe_answer<T>(&self, answer: impl Future<Output = Response<T>>) -> Response<T> {
        let (start, _running) = (Instant::now(), InFlight::new(&self.in_flight));
        let answer = answer.await;
        self.latency.observe(start.elapsed().as_secs_f64());
        self.requests.get_or_create(&self.code_labels(answer.status().as_str())).inc();
        answer
    }

    fn code_labels(&self, code: &str) -> LabelPairs {
        vec![("webhook", self.path.clone()), ("code", code.to_owned())]
    }
}

/// Returns the counter of the panics of all webhooks.
pub fn panic_counter(metrics: &Metrics) -> Counter {
    metrics.register("controller_runtime_webhook_panics", "Webhooks that panicked", Counter::default())
}

/// A request that is being answered, until this is dropped, which also happens if the client disconnects.
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
