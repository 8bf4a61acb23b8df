//! The names, labels and buckets of controller-runtime 0.24, which prometheus-client cannot know.

use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};
use std::{
    ops::Add,
    sync::{Mutex, atomic::AtomicU64},
    time::Instant,
};

type LabelSet = Vec<(&'static str, String)>;
type Seconds = Gauge<f64, AtomicU64>;

pub fn labels(pairs: &[(&'static str, &str)]) -> LabelSet {
    pairs.iter().map(|(key, value)| (*key, (*value).to_owned())).collect()
}

fn reconcile(name: &str) -> LabelSet {
    labels(&[("controller", name)])
}

fn queue(name: &str) -> LabelSet {
    labels(&[("name", name), ("controller", name)])
}

/// The buckets of controller-runtime.
fn reconcile_buckets() -> Histogram {
    let fine = [0.005, 0.01, 0.025].into_iter().chain((1..10).map(|number| f64::from(number) / 20.0));
    let middle = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5];
    let coarse = [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0];
    Histogram::new(fine.chain(middle).chain(coarse))
}

/// The buckets of client-go's workqueue: 10 ns to 1 000 s.
fn queue_buckets() -> Histogram {
    Histogram::new(exponential_buckets(1e-8, 10.0, 12))
}

/// A field for each metric, in `Families` for all controllers and in `Series` for one, by its labels.
macro_rules! metrics {
    ($($labels:ident $field:ident: $type:ty $(= $make:expr)?, $name:literal, $help:literal;)*) => {
        #[derive(Debug)]
        pub struct Families {
            pub requests: Family<LabelSet, Counter>,
            pub leader: Family<LabelSet, Gauge>,
            reconciles: Family<LabelSet, Counter>,
            $($field: Family<LabelSet, $type, fn() -> $type>,)*
        }

        impl Families {
            pub fn new(registry: &mut Registry) -> Self {
                let [requests, reconciles] = [(); 2].map(|()| Family::default());
                let leader = Family::default();
                registry.register("rest_client_requests", "Requests by status code, method and host", Clone::clone(&requests));
                registry.register("leader_election_master_status", "1 while the process leads, else 0", Clone::clone(&leader));
                registry.register("controller_runtime_reconcile", "Reconciles by result", Clone::clone(&reconciles));
                $(let $field = Family::new_with_constructor(metrics!(@ $type $(, $make)?) as fn() -> $type);
                registry.register($name, $help, $field.clone());)*
                Self { requests, leader, reconciles, $($field,)* }
            }
        }

        /// The series of one controller.
        #[derive(Debug)]
        pub struct Series {
            pub results: [Counter; 4],
            pub running: Mutex<Vec<Instant>>,
            $(pub $field: $type,)*
        }

        impl Series {
            pub fn new(families: &Families, name: &str) -> Self {
                let result = |value| labels(&[("controller", name), ("result", value)]);
                let results = ["success", "requeue_after", "error", "requeue"].map(result);
                Self {
                    results: results.map(|labels| families.reconciles.get_or_create_owned(&labels)),
                    running: Mutex::default(),
                    $($field: families.$field.get_or_create_owned(&$labels(name)),)*
                }
            }
        }
    };
    (@ $type:ty) => { <$type>::default };
    (@ $type:ty, $make:expr) => { $make };
}

metrics! {
    reconcile errors: Counter, "controller_runtime_reconcile_errors", "Failed reconciles";
    reconcile terminal_errors: Counter, "controller_runtime_terminal_reconcile_errors", "Failed reconciles that are not retried";
    reconcile panics: Counter, "controller_runtime_reconcile_panics", "Reconciles that panicked";
    reconcile timeouts: Counter, "controller_runtime_reconcile_timeouts", "Reconciles that took too long";
    reconcile time: Histogram = reconcile_buckets, "controller_runtime_reconcile_time_seconds", "Time of a reconcile";
    reconcile active: Gauge, "controller_runtime_active_workers", "Reconciles that are running";
    reconcile max_concurrent: Gauge, "controller_runtime_max_concurrent_reconciles", "Reconciles that may run at once";
    queue depth: Gauge, "workqueue_depth", "Objects in the workqueue";
    queue adds: Counter, "workqueue_adds", "Objects added to the workqueue";
    queue retries: Counter, "workqueue_retries", "Objects to be added to the workqueue again after a time";
    queue queue_time: Histogram = queue_buckets, "workqueue_queue_duration_seconds", "Time of an object in the workqueue";
    queue work_time: Histogram = queue_buckets, "workqueue_work_duration_seconds", "Time of work on an object";
    queue unfinished: Seconds, "workqueue_unfinished_work_seconds", "Time of all work that is running";
    queue longest: Seconds, "workqueue_longest_running_processor_seconds", "Time of the work that has been running longest";
}

impl Series {
    /// Sets the series that depend on the time.
    pub fn measure(&self) {
        let seconds = |since: &Instant| since.elapsed().as_secs_f64();
        let running = crate::lock(&self.running);
        self.unfinished.set(running.iter().map(seconds).fold(0.0, f64::add)); // the sum of none is -0
        self.longest.set(running.iter().min().map_or(0.0, seconds));
    }
}
