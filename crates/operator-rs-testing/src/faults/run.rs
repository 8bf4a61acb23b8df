//! One run of the controller with one fault.

use super::{
    super::{
        Cluster, Fault, Write,
        review::REVIEWS,
        run::{END_TIMEOUT, IGNORED_TOKEN},
        server,
        stillness::Stillness,
    },
    Disturbance, FaultCheck, LOSS, describe_read,
    state::{ClusterState, IGNORED, difference},
    step::Effect,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    time::Duration,
};
use tokio::{
    task::{JoinError, JoinHandle},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

const REPEATED_WRITES_HINT: &str =
    ", which changes nothing. If the controller may repeat its writes, use `FaultCheck::accept_writes_without_effect`";

const ALL_REFUSED: &str = "undisturbed, all writes of the controller fail, apart from those of events and leases";

/// What the undisturbed run wrote, read and watched.
pub struct BaselineRun {
    /// The writes, those after each step too.
    pub writes: Vec<Write>,
    /// The different reads of the reconciler, such as `get secrets`.
    pub reads: BTreeSet<String>,
    states: Vec<ClusterState>,
    watches: BTreeMap<String, usize>,
}

/// A controller on a cluster.
pub struct Run<'c, 'a, F, E> {
    check: &'c FaultCheck<'a, F>,
    disturbance: Disturbance,
    cluster: Cluster,
    process: Process<E>,
}

/// A started controller, which can be killed.
struct Process<E> {
    stop: CancellationToken,
    task: JoinHandle<Result<(), E>>,
    dead: CancellationToken,
}

/// The end of a process: its result, or its panic.
type Ended<E> = Result<Result<(), E>, JoinError>;

impl<'c, 'a, F, E> Run<'c, 'a, F, E>
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    /// Starts the controller on a new cluster.
    pub fn start(check: &'c FaultCheck<'a, F>, disturbance: Disturbance) -> Self {
        let cluster = disturbance.prepare_cluster((check.setup)());
        let process = Process::start(check, &cluster);
        Self { check, disturbance, cluster, process }
    }

    /// Runs without a fault, and keeps what was done.
    pub async fn run_undisturbed(mut self) -> Result<BaselineRun, String> {
        let mut given: BTreeSet<String> = self.check.state_of(&(self.check.setup)()).ids().cloned().collect();
        let mut before = self.first_state().await?;
        let mut states = vec![before.clone()];
        for (step, number) in self.check.steps.iter().zip(1..) {
            let writes = self.cluster.writes().len();
            step.run(&self.cluster);
            let changed = self.check.state_of(&self.cluster);
            given.extend(changed.ids().filter(|id| !before.has(id)).cloned());
            let after = self.first_state().await?;
            let has_written = self.cluster.writes().len() > writes;
            let effect = Effect { before: &before, changed: &changed, after: &after, has_written, given: &given };
            if let Some(problem) = step.find_problem(number, &effect) {
                return Err(problem);
            }
            states.push(after.clone());
            before = after;
        }
        self.check_writes()?;
        let watches = self.cluster.watches_up_to_date();
        let writes = self.cluster.writes();
        let reads = self.cluster.requests().iter().filter_map(describe_read).collect();
        self.check_restart().await?;
        self.process.end().await?;
        Ok(BaselineRun { writes, reads, states, watches })
    }

    /// Returns an error if the controller writes, and no write succeeds: there is nothing that a fault could disturb.
    fn check_writes(&self) -> Result<(), String> {
        let is_counted = |resource: &str| !IGNORED.contains(&resource) && resource != REVIEWS;
        let is_attempted = self.cluster.writes().iter().any(|write| is_counted(&write.request.resource));
        let has_succeeded = self.cluster.written_resources().iter().any(|resource| is_counted(resource));
        if has_succeeded || !is_attempted {
            return Ok(());
        }
        Err(format!("{ALL_REFUSED} ({})", self.cluster.describe_requests(0)))
    }

    /// The state once nothing happens any more. The start of the controller and its debounce are waited for.
    async fn first_state(&mut self) -> Result<ClusterState, String> {
        let limit = Instant::now() + self.check.timeout;
        let settle_time = self.check.settle_time * 2;
        let mut stillness = Stillness::start(&self.cluster);
        while !stillness.has_lasted(settle_time) || self.cluster.watches_up_to_date().is_empty() {
            self.process.check().await?;
            if limit < Instant::now() {
                return Err(self.unsettled_message("undisturbed, the controller does not settle"));
            }
            stillness.wait_for_tick(&self.cluster).await;
        }
        Ok(self.check.state_of(&self.cluster))
    }

    /// Runs with the fault, and compares with the undisturbed run.
    pub async fn compare_with(mut self, reference: &BaselineRun) -> Result<(), String> {
        for (i, state) in reference.states.iter().enumerate() {
            let is_lost = self.disturbance == Disturbance::LostEvents { after_step: i };
            if is_lost {
                self.cluster.inject(Fault::LoseEvents { gone_after: LOSS * 2 });
            }
            if let Some(step) = i.checked_sub(1) {
                self.check.steps[step].run(&self.cluster);
            }
            if is_lost {
                sleep(LOSS).await;
                self.cluster.remove_watch_faults();
            }
            self.wait_for_state(state, &reference.watches).await?;
        }
        self.cluster.remove_watch_faults();
        self.check_restart().await?;
        let state = reference.states.last().ok_or("there is no state")?;
        self.wait_for_state(state, &reference.watches).await?;
        self.process.end().await
    }

    /// Waits until the cluster is in this state, all watches are up to date, and nothing happens any more.
    async fn wait_for_state(&mut self, state: &ClusterState, watches: &BTreeMap<String, usize>) -> Result<(), String> {
        let limit = Instant::now() + self.check.timeout;
        let mut stillness = Stillness::start(&self.cluster);
        loop {
            self.crash_if_due().await;
            self.check_process().await?;
            if !self.up_to_date(watches) {
                stillness.reset();
            }
            let settled = stillness.has_lasted(self.check.settle_time);
            if settled && difference(state, &self.check.state_of(&self.cluster)).is_none() {
                return Ok(());
            }
            if limit < Instant::now() {
                let found = difference(state, &self.check.state_of(&self.cluster));
                return Err(found.unwrap_or_else(|| self.unsettled_message("the controller does not settle")));
            }
            // The difference may disappear once the controller retries: wait before the next comparison, which is
            // expensive.
            if settled {
                sleep(self.check.settle_time / 3).await;
            }
            stillness.wait_for_tick(&self.cluster).await;
        }
    }

    /// Returns true if everything that was watched in the undisturbed run is watched, and every event was delivered.
    fn up_to_date(&self, watches: &BTreeMap<String, usize>) -> bool {
        let found = self.cluster.watches_up_to_date();
        watches.iter().all(|(resource, count)| count <= found.get(resource).unwrap_or(&0))
    }

    /// Kills the controller and starts it again, if this is the moment.
    async fn crash_if_due(&mut self) {
        let Disturbance::Crash { .. } = self.disturbance else { return };
        if timeout(Duration::ZERO, self.cluster.wait_for_lost_response()).await.is_ok() {
            self.process.kill();
            self.process = Process::start(self.check, &self.cluster);
            self.disturbance = Disturbance::Nothing;
        }
    }

    /// Returns an error if the controller has ended. One that ends because a read was refused is started again, as the
    /// kubelet does: many read their settings when they start.
    async fn check_process(&mut self) -> Result<(), String> {
        match self.process.wait_if_ended().await {
            None => Ok(()),
            Some(Ok(Err(_))) if matches!(self.disturbance, Disturbance::RefusedRead { .. }) => {
                self.process = Process::start(self.check, &self.cluster);
                self.disturbance = Disturbance::Nothing;
                Ok(())
            }
            Some(ended) => Err(describe_end(ended)),
        }
    }

    /// Ends the controller, starts it again, and sees that it writes nothing, or changes nothing if that is enough.
    async fn check_restart(&mut self) -> Result<(), String> {
        self.process.end().await?;
        let (before, requests) = (self.cluster.writes().len(), self.cluster.request_count());
        let version = self.cluster.latest_resource_version();
        self.process = Process::start(self.check, &self.cluster);
        let (limit, mut stillness) = (Instant::now() + self.check.timeout, Stillness::start(&self.cluster));
        while !stillness.has_lasted(self.check.settle_time) || self.cluster.request_count() == requests {
            self.process.check().await?;
            if limit < Instant::now() {
                return Err("the controller asks nothing after it is started again".into());
            }
            stillness.wait_for_tick(&self.cluster).await;
        }
        let writes = self.cluster.writes();
        let Some(new @ [_, ..]) = writes.get(before..) else { return Ok(()) };
        let changes_nothing = self.cluster.latest_resource_version() == version;
        if changes_nothing && self.check.accepts_writes_without_effect {
            return Ok(());
        }
        let list: Vec<_> = new.iter().map(|write| format!("{} {}", write.summary, write.path)).collect();
        let hint = if changes_nothing { REPEATED_WRITES_HINT } else { "" };
        Err(format!("started again when all was settled, the controller writes {}{hint}", list.join(", ")))
    }

    fn unsettled_message(&self, what: &str) -> String {
        format!("{what} within {} s: {}", self.check.timeout.as_secs(), self.cluster.describe_requests(0))
    }
}

impl<E> Process<E> {
    /// Ends the process as a crash does: its requests have no effect any more.
    fn kill(&self) {
        self.dead.cancel();
        self.task.abort();
        self.stop.cancel();
    }
}

impl<E: Display + Send + 'static> Process<E> {
    fn start<F>(check: &FaultCheck<'_, F>, cluster: &Cluster) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        let (stop, dead) = (CancellationToken::new(), CancellationToken::new());
        let task = tokio::spawn((check.controller)(server::client(cluster, &dead), stop.clone()));
        Self { stop, task, dead }
    }

    /// Returns how the controller has ended by itself, or `None` while it runs.
    async fn wait_if_ended(&mut self) -> Option<Ended<E>> {
        if self.task.is_finished() { Some((&mut self.task).await) } else { None }
    }

    /// A controller that ends by itself has failed.
    async fn check(&mut self) -> Result<(), String> {
        self.wait_if_ended().await.map_or(Ok(()), |ended| Err(describe_end(ended)))
    }

    async fn end(&mut self) -> Result<(), String> {
        self.check().await?;
        self.stop.cancel();
        let ended = timeout(END_TIMEOUT, &mut self.task).await;
        self.dead.cancel();
        match ended {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(ended) => Err(describe_end(ended)),
            Err(_) => {
                self.task.abort();
                Err(IGNORED_TOKEN.into())
            }
        }
    }
}

fn describe_end<E: Display>(ended: Ended<E>) -> String {
    match ended {
        Ok(Ok(())) => "the controller ended by itself".into(),
        Ok(Err(error)) => format!("the controller ended: {error:#}"),
        Err(error) => format!("the controller ended: {error}"),
    }
}

impl<E> Drop for Process<E> {
    fn drop(&mut self) {
        self.kill();
    }
}
