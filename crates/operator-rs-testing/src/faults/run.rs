//! One run of the controller with one fault.

use super::{
    super::{Cluster, Write, server, stillness::Stillness},
    Check, Fault, LOSS,
    state::{State, difference},
    step::Effect,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// The writes of the undisturbed run.
pub struct Reference {
    /// The writes, those after each step too.
    pub writes: Vec<Write>,
    states: Vec<State>,
    watches: BTreeMap<String, usize>,
}

/// A controller on a cluster.
pub struct Run<'c, 'a, F, E> {
    check: &'c Check<'a, F>,
    fault: Fault,
    cluster: Cluster,
    process: Process<E>,
}

/// A started controller, which can be killed.
struct Process<E> {
    stop: CancellationToken,
    task: JoinHandle<Result<(), E>>,
    dead: CancellationToken,
}

impl<'c, 'a, F, E> Run<'c, 'a, F, E>
where
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    /// Starts the controller on a new cluster.
    pub fn start(check: &'c Check<'a, F>, fault: Fault) -> Self {
        let cluster = fault.plant((check.setup)());
        let process = Process::start(check, &cluster);
        Self { check, fault, cluster, process }
    }

    /// Runs without a fault, and keeps what was done.
    pub async fn reference(mut self) -> Result<Reference, String> {
        let mut given: BTreeSet<String> = State::of(&(self.check.setup)()).ids().cloned().collect();
        let mut before = self.first_state().await?;
        let mut states = vec![before.clone()];
        for (step, number) in self.check.steps.iter().zip(1..) {
            let writes = self.cluster.writes().len();
            step.run(&self.cluster);
            let changed = State::of(&self.cluster);
            given.extend(changed.ids().filter(|id| !before.has(id)).cloned());
            let after = self.first_state().await?;
            let has_written = self.cluster.writes().len() > writes;
            let effect = Effect { before: &before, changed: &changed, after: &after, has_written, given: &given };
            if let Some(problem) = step.problem(number, &effect) {
                return Err(problem);
            }
            states.push(after.clone());
            before = after;
        }
        let watches = self.cluster.watches_up_to_date();
        let writes = self.cluster.writes();
        self.restart().await?;
        self.process.end().await?;
        Ok(Reference { writes, states, watches })
    }

    /// The state once nothing happens any more. The start of the controller and its debounce are waited for.
    async fn first_state(&mut self) -> Result<State, String> {
        let limit = Instant::now() + self.check.limit;
        let quiet = self.check.quiet * 2;
        let mut stillness = Stillness::of(&self.cluster);
        while !stillness.lasts(quiet) || self.cluster.watches_up_to_date().is_empty() {
            self.process.check().await?;
            if limit < Instant::now() {
                return Err(self.unsettled("undisturbed, the controller does not settle"));
            }
            stillness.tick(&self.cluster).await;
        }
        Ok(State::of(&self.cluster))
    }

    /// Runs with the fault, and compares with the undisturbed run.
    pub async fn compare(mut self, reference: &Reference) -> Result<(), String> {
        for (i, state) in reference.states.iter().enumerate() {
            let dropped = self.fault == Fault::Dropped(i);
            if dropped {
                self.cluster.drop_events(LOSS * 2);
            }
            if let Some(step) = i.checked_sub(1) {
                self.check.steps[step].run(&self.cluster);
            }
            if dropped {
                sleep(LOSS).await;
                self.cluster.deliver_events();
            }
            self.reach(state, &reference.watches).await?;
        }
        self.cluster.deliver_events();
        self.restart().await?;
        let state = reference.states.last().ok_or("there is no state")?;
        self.reach(state, &reference.watches).await?;
        self.process.end().await
    }

    /// Waits until the cluster is in this state, all watches are up to date, and nothing happens any more.
    async fn reach(&mut self, state: &State, watches: &BTreeMap<String, usize>) -> Result<(), String> {
        let limit = Instant::now() + self.check.limit;
        let mut stillness = Stillness::of(&self.cluster);
        loop {
            self.crash().await;
            self.process.check().await?;
            if !self.up_to_date(watches) {
                stillness.reset();
            }
            let settled = stillness.lasts(self.check.quiet);
            if settled && difference(state, &State::of(&self.cluster)).is_none() {
                return Ok(());
            }
            if limit < Instant::now() {
                let found = difference(state, &State::of(&self.cluster));
                return Err(found.unwrap_or_else(|| self.unsettled("the controller does not settle")));
            }
            // A difference may pass with a retry: comparing costs more than waiting.
            if settled {
                sleep(self.check.quiet / 3).await;
            }
            stillness.tick(&self.cluster).await;
        }
    }

    /// Whether all that was watched in the undisturbed run is watched, and every event was taken.
    fn up_to_date(&self, watches: &BTreeMap<String, usize>) -> bool {
        let found = self.cluster.watches_up_to_date();
        watches.iter().all(|(resource, count)| count <= found.get(resource).unwrap_or(&0))
    }

    /// Kills the controller and starts it again, if this is the moment.
    async fn crash(&mut self) {
        let Fault::Crash(_) = self.fault else { return };
        if timeout(Duration::ZERO, self.cluster.until_swallowed()).await.is_ok() {
            self.process.kill();
            self.process = Process::start(self.check, &self.cluster);
            self.fault = Fault::Nothing;
        }
    }

    /// Ends the controller, starts it again, and sees that it writes nothing.
    async fn restart(&mut self) -> Result<(), String> {
        self.process.end().await?;
        let (before, requests) = (self.cluster.writes().len(), self.cluster.request_count());
        self.process = Process::start(self.check, &self.cluster);
        let (limit, mut stillness) = (Instant::now() + self.check.limit, Stillness::of(&self.cluster));
        while !stillness.lasts(self.check.quiet) || self.cluster.request_count() == requests {
            self.process.check().await?;
            if limit < Instant::now() {
                return Err("the controller asks nothing after it is started again".into());
            }
            stillness.tick(&self.cluster).await;
        }
        let writes = self.cluster.writes();
        match writes.get(before..) {
            None | Some([]) => Ok(()),
            Some(new) => {
                let list: Vec<_> = new.iter().map(|it| format!("{} {}", it.what, it.path)).collect();
                Err(format!("started again when all was settled, the controller writes {}", list.join(", ")))
            }
        }
    }

    fn unsettled(&self, what: &str) -> String {
        let writes = self.cluster.writes();
        let last: Vec<_> = writes.iter().rev().take(3).map(|it| it.what.clone()).collect();
        let (limit, count) = (self.check.limit.as_secs(), writes.len());
        format!("{what} within {limit} s: {count} writes, the last ones are {}", last.join(", "))
    }
}

impl<E> Process<E> {
    /// As a process dies: nothing of it is heard or takes effect any more.
    fn kill(&self) {
        self.dead.cancel();
        self.task.abort();
        self.stop.cancel();
    }
}

impl<E: Display + Send + 'static> Process<E> {
    fn start<F>(check: &Check<'_, F>, cluster: &Cluster) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
    {
        let (stop, dead) = (CancellationToken::new(), CancellationToken::new());
        let task = tokio::spawn((check.controller)(server::client(cluster, &dead), stop.clone()));
        Self { stop, task, dead }
    }

    /// A controller that ends by itself has failed.
    async fn check(&mut self) -> Result<(), String> {
        if !self.task.is_finished() {
            return Ok(());
        }
        Err(match (&mut self.task).await {
            Ok(Ok(())) => "the controller ended by itself".into(),
            Ok(Err(error)) => format!("the controller ended: {error:#}"),
            Err(error) => format!("the controller ended: {error}"),
        })
    }

    async fn end(&mut self) -> Result<(), String> {
        self.check().await?;
        self.stop.cancel();
        let ended = timeout(Duration::from_secs(10), &mut self.task).await;
        self.dead.cancel();
        match ended {
            Ok(Ok(Ok(()))) => Ok(()),
            Ok(Ok(Err(error))) => Err(format!("the controller ended: {error:#}")),
            Ok(Err(error)) => Err(format!("the controller ended: {error}")),
            Err(_) => {
                self.task.abort();
                Err("the controller does not end within 10 s of its token".into())
            }
        }
    }
}

impl<E> Drop for Process<E> {
    fn drop(&mut self) {
        self.kill();
    }
}
