//! Runs a controller with every fault that it can meet, and checks that it settles in the same state.
//!
//! The controller is run undisturbed first, and a second time. Then it is run again with one fault at a time, each on a
//! cluster of its own:
//!
//! * it crashes after each of its writes in turn, before it learns that the write has succeeded, and is started again;
//! * each write in turn takes effect, but its answer is lost (504);
//! * each write in turn is refused with 409 Conflict, and with 500;
//! * the first `get` of each resource is refused with 500, and the first list that is not one of a watcher, which lists
//!   in pages. The controller may end with the error, and is then started again;
//! * all watch events come late, come twice, or are lost until the watch ends with 410 Gone.
//!
//! If the two undisturbed runs differ, no other difference is reported: it would have the same cause.
//!
//! Each time the cluster has to reach the state of the undisturbed run (but for what differs in every run: uids,
//! versions, times, events), and a controller that is started then must write nothing: one that applies its objects in
//! each reconcile needs [`accept_writes_without_effect`](FaultCheck::accept_writes_without_effect). The undisturbed run
//! itself is not compared with anything: assert in a [step](FaultCheck::then) what it has to do.
//!
//! ```no_run
//! use kube::Client;
//! use operator_rs_testing::{CancellationToken, Cluster, faults};
//! # async fn run(client: Client, stop: CancellationToken) -> Result<(), kube::Error> { Ok(()) }
//! # async fn test() {
//! faults::check(|| Cluster::default(), run).await;
//! # }
//! ```

mod run;
mod state;
mod step;
#[cfg(test)]
mod tests;

use super::{Cluster, Fault, Request, Write, resource_name};
use futures::{FutureExt, StreamExt, stream};
use kube::{Client, Resource};
use run::{BaselineRun, Run};
use state::{ClusterState, DIFFERENT_STATE, IgnoredField};
use std::{
    fmt::{self, Display},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use step::CheckStep;
use tokio_util::sync::CancellationToken;

pub use step::StepOutcome;

/// Checks that a controller settles in the same state with each fault. `setup` creates the cluster that it starts with;
/// `run` runs it until the token is cancelled.
///
/// # Panics
/// If it does not. The message names each fault and the differences.
pub async fn check<F, E>(setup: impl Fn() -> Cluster, run: impl Fn(Client, CancellationToken) -> F)
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    FaultCheck::new(setup, run).run().await;
}

/// A check with further steps and settings; [`check`] is the short form.
pub struct FaultCheck<'a, F> {
    setup: Box<dyn Fn() -> Cluster + 'a>,
    controller: Box<dyn Fn(Client, CancellationToken) -> F + 'a>,
    steps: Vec<CheckStep<'a>>,
    settle_time: Duration,
    timeout: Duration,
    accepts_writes_without_effect: bool,
    ignored_fields: Vec<IgnoredField>,
}

/// The disturbance of one run of the controller. Writes are counted from 1.
#[derive(Clone, Debug, PartialEq)]
enum Disturbance {
    Nothing,
    Crash {
        write: usize,
    },
    ReplacedResponse {
        write: usize,
    },
    RefusedWrite {
        write: usize,
        code: u16,
    },
    /// The first of several equal reads, such as `get secrets`, is refused with 500.
    RefusedRead {
        read: String,
    },
    DelayedEvents,
    RepeatedEvents,
    /// The events after a step are lost; those before the first step for 0.
    LostEvents {
        after_step: usize,
    },
}

const RANDOM_VALUES_HINT: &str = "\nThis run had no fault. If a value is random, use `FaultCheck::ignore_value_of`";

/// The delay of events.
const DELAY: Duration = Duration::from_millis(150);
/// The time for which events are lost.
const LOSS: Duration = Duration::from_millis(600);
/// The number of concurrent runs.
const CONCURRENCY: usize = 64;

impl<'a, F, E> FaultCheck<'a, F>
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    /// Creates a check of this controller on this cluster.
    pub fn new(setup: impl Fn() -> Cluster + 'a, controller: impl Fn(Client, CancellationToken) -> F + 'a) -> Self {
        Self {
            setup: Box::new(setup),
            controller: Box::new(controller),
            steps: Vec::new(),
            settle_time: Duration::from_millis(300),
            timeout: Duration::from_secs(20),
            accepts_writes_without_effect: false,
            ignored_fields: Vec::new(),
        }
    }

    /// Adds a step, such as an edit or a deletion, that is taken once the controller has settled. The controller has to
    /// settle again after it.
    ///
    /// The check fails if nothing follows from the change, because a controller that does nothing would pass: if an
    /// object that the controller has created stays deleted or changed (but for its status), or if nothing is written
    /// at all. A step can also assert what has to be true, and change nothing.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    /// # use kube::Client;
    /// # use operator_rs_testing::{CancellationToken, Cluster, faults::FaultCheck};
    /// # async fn run(client: Client, stop: CancellationToken) -> Result<(), kube::Error> { Ok(()) }
    /// # async fn test() {
    /// FaultCheck::new(Cluster::default, run)
    ///     .then(|cluster| cluster.delete::<ConfigMap>("default", "a"))
    ///     .then(|cluster| assert!(cluster.list::<Secret>().is_empty()))
    ///     .run()
    ///     .await;
    /// # }
    /// ```
    pub fn then<R: StepOutcome>(mut self, step: impl Fn(&Cluster) -> R + 'a) -> Self {
        self.steps.push(CheckStep::new(step, false));
        self
    }

    /// Adds a step that is taken once the controller has settled. The controller has to leave everything as the step
    /// has changed it.
    pub fn tolerates<R: StepOutcome>(mut self, step: impl Fn(&Cluster) -> R + 'a) -> Self {
        self.steps.push(CheckStep::new(step, true));
        self
    }

    /// Sets how long a controller must write nothing to count as settled (default: 300 ms).
    pub fn settle_time(mut self, settle_time: Duration) -> Self {
        self.settle_time = settle_time;
        self
    }

    /// Sets the time within which a controller must settle after each step (default: 20 s).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Accepts that a controller that is started again repeats its writes, if they change nothing on the cluster: a
    /// controller that applies all its objects in each reconcile, without comparing first.
    ///
    /// ```
    /// # use kube::Client;
    /// # use operator_rs_testing::{CancellationToken, Cluster, faults::FaultCheck};
    /// # async fn run(client: Client, stop: CancellationToken) -> Result<(), kube::Error> { Ok(()) }
    /// # async fn test() {
    /// FaultCheck::new(Cluster::default, run).accept_writes_without_effect().run().await;
    /// # }
    /// ```
    pub fn accept_writes_without_effect(mut self) -> Self {
        self.accepts_writes_without_effect = true;
        self
    }

    /// Ignores the value of a field of a kind, such as `data.password` of Secrets, because it is random. The field
    /// itself still has to be there.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::Secret;
    /// # use kube::Client;
    /// # use operator_rs_testing::{CancellationToken, Cluster, faults::FaultCheck};
    /// # async fn run(client: Client, stop: CancellationToken) -> Result<(), kube::Error> { Ok(()) }
    /// # async fn test() {
    /// FaultCheck::new(Cluster::default, run).ignore_value_of::<Secret>("data.password").run().await;
    /// # }
    /// ```
    pub fn ignore_value_of<K: Resource<DynamicType = ()>>(mut self, field: &str) -> Self {
        let path = field.trim_start_matches('.').to_owned();
        self.ignored_fields.push(IgnoredField { resource: resource_name::<K>(), path });
        self
    }

    /// Runs the check.
    ///
    /// # Panics
    /// If the controller does not settle in the same state. The message names each fault and the differences.
    pub async fn run(self) {
        if let Err(problems) = self.try_run().await {
            panic!("{}", problems.join("\n"));
        }
    }

    /// The state of a cluster without the ignored values.
    fn state_of(&self, cluster: &Cluster) -> ClusterState {
        ClusterState::of(cluster, &self.ignored_fields)
    }

    /// Runs the check, and returns the differences of each fault.
    ///
    /// # Errors
    /// One text for each fault after which the controller does not settle in the same state.
    pub async fn try_run(&self) -> Result<(), Vec<String>> {
        let reference =
            Run::start(self, Disturbance::Nothing).run_undisturbed().await.map_err(|problem| vec![problem])?;
        // A controller that is not deterministic fails with each fault, too: the first message says why.
        let undisturbed = async {
            let problem = self.find_problem(0, Disturbance::Nothing, &reference).await;
            problem.map_or(Ok(()), |(_, problem)| Err(vec![problem]))
        };
        let runs = self.disturbances(&reference).into_iter().enumerate();
        let runs = runs.map(|(number, disturbance)| self.find_problem(number, disturbance, &reference));
        let with_faults = stream::iter(runs).buffer_unordered(CONCURRENCY).filter_map(async |problem| problem);
        let ((), mut problems) = futures::try_join!(undisturbed, with_faults.collect::<Vec<_>>().map(Ok))?;
        problems.sort();
        let problems: Vec<String> = problems.into_iter().map(|(_, problem)| problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Returns the faults that the controller can meet, in the order of the messages.
    fn disturbances(&self, reference: &BaselineRun) -> Vec<Disturbance> {
        let for_each_write = |make: fn(usize) -> Disturbance| (1..=reference.writes.len()).map(make);
        for_each_write(|write| Disturbance::Crash { write })
            .chain(for_each_write(|write| Disturbance::ReplacedResponse { write }))
            .chain(for_each_write(|write| Disturbance::RefusedWrite { write, code: 409 }))
            .chain(for_each_write(|write| Disturbance::RefusedWrite { write, code: 500 }))
            .chain(reference.reads.iter().map(|read| Disturbance::RefusedRead { read: read.clone() }))
            .chain([Disturbance::DelayedEvents, Disturbance::RepeatedEvents])
            .chain((0..=self.steps.len()).map(|after_step| Disturbance::LostEvents { after_step }))
            .collect()
    }

    /// Runs the controller with one fault. Returns the number of the run, and what is wrong.
    async fn find_problem(
        &self,
        number: usize,
        disturbance: Disturbance,
        reference: &BaselineRun,
    ) -> Option<(usize, String)> {
        let description = disturbance.describe(&reference.writes);
        let has_fault = disturbance != Disturbance::Nothing;
        let problem = Run::start(self, disturbance).compare_with(reference).await.err()?;
        let may_be_random = !has_fault && problem.starts_with(DIFFERENT_STATE);
        let hint = if may_be_random { RANDOM_VALUES_HINT } else { "" };
        Some((number, format!("{description}: {problem}{hint}")))
    }
}

/// Describes a read of a reconciler, such as `get secrets`. Returns `None` for the other requests: a watcher lists in
/// pages.
fn describe_read(request: &Request) -> Option<String> {
    let is_read = request.verb == "get" || (request.verb == "list" && request.param("limit").is_empty());
    is_read.then(|| format!("{} {}", request.verb, request.resource))
}

impl Disturbance {
    /// The cluster with the disturbance in it, if it is there from the beginning.
    fn prepare_cluster(&self, cluster: Cluster) -> Cluster {
        match *self {
            Self::Crash { write } => cluster.with_fault(Fault::LoseResponse.on_write(write)),
            Self::ReplacedResponse { write } => {
                cluster.with_fault(Fault::ReplaceResponse { code: 504 }.on_write(write))
            }
            Self::RefusedWrite { write, code } => cluster.with_fault(Fault::Refuse { code }.on_write(write)),
            Self::RefusedRead { ref read } => {
                let (read, is_over) = (read.clone(), AtomicBool::new(false));
                let is_first = move |request: &Request| {
                    describe_read(request).is_some_and(|found| found == read) && !is_over.swap(true, Ordering::Relaxed)
                };
                cluster.with_fault(Fault::Refuse { code: 500 }.when(is_first))
            }
            Self::DelayedEvents => cluster.with_fault(Fault::DelayEvents { delay: DELAY }),
            Self::RepeatedEvents => cluster.with_fault(Fault::RepeatEvents),
            Self::Nothing | Self::LostEvents { .. } => cluster,
        }
    }

    /// The words with which a problem begins.
    fn describe(&self, writes: &[Write]) -> String {
        let describe_write = |number: usize| match number.checked_sub(1).and_then(|index| writes.get(index)) {
            Some(write) => {
                let method = write.summary.split(' ').next().unwrap_or_default();
                format!("write {number} ({method} {})", write.path)
            }
            None => format!("write {number}"),
        };
        match *self {
            Self::Nothing => "undisturbed a second time".into(),
            Self::Crash { write } => format!("after a crash at {}", describe_write(write)),
            Self::ReplacedResponse { write } => {
                format!("after the response to {} was lost", describe_write(write))
            }
            Self::RefusedWrite { write, code } => {
                format!("after {} was refused with {code}", describe_write(write))
            }
            Self::RefusedRead { ref read } => format!("after the first {read} was refused with 500"),
            Self::DelayedEvents => "with all events late".into(),
            Self::RepeatedEvents => "with all events twice".into(),
            Self::LostEvents { after_step: 0 } => "with all events lost until the watches end with 410".into(),
            Self::LostEvents { after_step } => {
                format!("with all events after step {after_step} lost until the watches end with 410")
            }
        }
    }
}

impl<F> fmt::Debug for FaultCheck<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultCheck with {} steps", self.steps.len())
    }
}
