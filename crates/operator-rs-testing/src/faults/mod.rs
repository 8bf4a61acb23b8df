//! Runs a controller with every fault that it can meet, and checks that it settles in the same state.
//!
//! The controller is run undisturbed first. Then it is run again with one fault at a time, each on a cluster of its
//! own:
//!
//! * it crashes after each of its writes in turn, before it learns that the write has succeeded, and is started again;
//! * each write in turn takes effect, but its answer is lost (504);
//! * each write in turn is refused with 409 Conflict, and with 500;
//! * all watch events come late, come twice, or are lost until the watch ends with 410 Gone.
//!
//! Each time the cluster has to reach the state of the undisturbed run (but for what differs in every run: uids,
//! versions, times, events), and a controller that is started then must write nothing. The undisturbed run itself is not
//! compared with anything: assert in a [step](Check::then) what it has to do.
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

use super::{Cluster, Write};
use futures::{StreamExt, stream};
use kube::Client;
use run::Run;
use std::{
    fmt::{self, Display},
    time::Duration,
};
use step::Step;
use tokio_util::sync::CancellationToken;

pub use step::Outcome;

/// Checks that a controller settles in the same state whatever goes wrong. `setup` makes the cluster that it starts
/// with; `run` runs it until the token is cancelled.
///
/// # Panics
/// If it does not: the message names each fault, and what differs.
pub async fn check<F, E>(setup: impl Fn() -> Cluster, run: impl Fn(Client, CancellationToken) -> F)
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    Check::new(setup, run).run().await;
}

/// A check with steps and settings of its own; [`check`] is the short form.
pub struct Check<'a, F> {
    setup: Box<dyn Fn() -> Cluster + 'a>,
    controller: Box<dyn Fn(Client, CancellationToken) -> F + 'a>,
    steps: Vec<Step<'a>>,
    quiet: Duration,
    limit: Duration,
}

/// The faults.
#[derive(Clone, Debug, PartialEq)]
enum Fault {
    Nothing,
    Crash(usize),
    AnswerLost(usize),
    Refused(usize, u16),
    Late,
    Twice,
    Dropped(usize),
}

/// So late are events.
const DELAY: Duration = Duration::from_millis(150);
/// Events are lost for this time.
const LOSS: Duration = Duration::from_millis(600);
/// The number of concurrent runs.
const CONCURRENCY: usize = 64;

impl<'a, F, E> Check<'a, F>
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    /// A check of this controller on this cluster.
    pub fn new(setup: impl Fn() -> Cluster + 'a, controller: impl Fn(Client, CancellationToken) -> F + 'a) -> Self {
        Self {
            setup: Box::new(setup),
            controller: Box::new(controller),
            steps: Vec::new(),
            quiet: Duration::from_millis(300),
            limit: Duration::from_secs(20),
        }
    }

    /// Then does this once the controller has settled, such as an edit or a deletion; the controller has to settle again.
    ///
    /// The check fails if nothing follows from the change, because a controller that does nothing would pass: if an object
    /// that the controller has created stays deleted or changed (but for its status), or if nothing is written at all. A
    /// step can also assert what has to be true, and change nothing.
    pub fn then<R: Outcome>(mut self, step: impl Fn(&Cluster) -> R + 'a) -> Self {
        self.steps.push(Step::new(step, false));
        self
    }

    /// Then does this once the controller has settled, which has to leave everything as the step has changed it.
    pub fn tolerates<R: Outcome>(mut self, step: impl Fn(&Cluster) -> R + 'a) -> Self {
        self.steps.push(Step::new(step, true));
        self
    }

    /// Sets how long a controller must write nothing to count as settled (default: 300 ms).
    pub fn quiet(mut self, quiet: Duration) -> Self {
        self.quiet = quiet;
        self
    }

    /// Sets the time in which a controller must settle after each step (default: 20 s).
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the check.
    ///
    /// # Panics
    /// If the controller does not settle in the same state: the message names each fault, and what differs.
    pub async fn run(self) {
        if let Err(problems) = self.result().await {
            panic!("{}", problems.join("\n"));
        }
    }

    /// Runs the check, and says for each fault what is different with it.
    ///
    /// # Errors
    /// One text for each fault after which the controller does not settle in the same state.
    pub async fn result(&self) -> Result<(), Vec<String>> {
        let reference = Run::start(self, Fault::Nothing).reference().await.map_err(|it| vec![it])?;
        let writes = &reference.writes;
        let each = |fault: fn(usize) -> Fault| (0..writes.len()).map(fault);
        let faults = each(Fault::Crash)
            .chain(each(Fault::AnswerLost))
            .chain(each(|nth| Fault::Refused(nth, 409)))
            .chain(each(|nth| Fault::Refused(nth, 500)))
            .chain([Fault::Nothing, Fault::Late, Fault::Twice])
            .chain((0..=self.steps.len()).map(Fault::Dropped));
        let runs = faults.map(|fault| {
            let reference = &reference;
            async move {
                let name = fault.name(&reference.writes);
                let done = Run::start(self, fault).compare(reference).await;
                done.err().map(|problem| format!("{name}: {problem}"))
            }
        });
        let problems: Vec<_> =
            stream::iter(runs).buffer_unordered(CONCURRENCY).filter_map(async |it| it).collect().await;
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

impl Fault {
    /// The cluster with the fault in it.
    fn plant(&self, cluster: Cluster) -> Cluster {
        match *self {
            Self::Crash(nth) => cluster.swallowing(nth),
            Self::AnswerLost(nth) => cluster.losing(nth, 504),
            Self::Refused(nth, code) => cluster.failing(nth, code),
            Self::Late => {
                cluster.delay_watches(DELAY);
                cluster
            }
            Self::Twice => {
                cluster.double_events();
                cluster
            }
            Self::Nothing | Self::Dropped(_) => cluster,
        }
    }

    fn name(&self, writes: &[Write]) -> String {
        let write = |nth: usize| match writes.get(nth) {
            Some(it) => format!("write {} ({} {})", nth + 1, it.what.split(' ').next().unwrap_or_default(), it.path),
            None => format!("write {}", nth + 1),
        };
        match *self {
            Self::Nothing => "undisturbed a second time".into(),
            Self::Crash(nth) => format!("after a crash at {}", write(nth)),
            Self::AnswerLost(nth) => format!("after the answer of {} was lost", write(nth)),
            Self::Refused(nth, code) => format!("after {} was refused with {code}", write(nth)),
            Self::Late => "with all events late".into(),
            Self::Twice => "with all events twice".into(),
            Self::Dropped(0) => "with all events lost until the watches end with 410".into(),
            Self::Dropped(step) => {
                format!("with all events after step {step} lost until the watches end with 410")
            }
        }
    }
}

impl<F> fmt::Debug for Check<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Check with {} steps", self.steps.len())
    }
}
