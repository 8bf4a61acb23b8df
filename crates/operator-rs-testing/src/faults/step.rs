//! A step of a check, and the effect that it must have. A check compares a controller with itself: if nothing followed
//! from a step in the undisturbed run, the check would pass with a controller that does nothing.

use super::{super::Cluster, state::ClusterState};
use std::{collections::BTreeSet, fmt::Debug};

/// Something that happens once the controller has settled.
pub struct CheckStep<'a> {
    run: Box<dyn Fn(&Cluster) + 'a>,
    /// The controller has to leave everything as the step has changed it.
    is_tolerated: bool,
}

/// The return value of a step of a [`FaultCheck`](super::FaultCheck): nothing, or a `Result`. A step fails with its
/// error.
pub trait StepOutcome {
    /// Panics with the error, if there is one.
    fn expect_success(self);
}

impl StepOutcome for () {
    fn expect_success(self) {}
}

impl<T, E: Debug> StepOutcome for Result<T, E> {
    fn expect_success(self) {
        self.expect("a step must succeed");
    }
}

impl<'a> CheckStep<'a> {
    pub fn new<R: StepOutcome>(run: impl Fn(&Cluster) -> R + 'a, is_tolerated: bool) -> Self {
        Self { run: Box::new(move |cluster| run(cluster).expect_success()), is_tolerated }
    }

    pub fn run(&self, cluster: &Cluster) {
        (self.run)(cluster);
    }

    /// Returns what is wrong with the effect of the step with this number.
    pub fn find_problem(&self, number: usize, effect: &Effect<'_>) -> Option<String> {
        if self.is_tolerated {
            let id = effect.changed.changed_ids(effect.after).next()?;
            return Some(format!("{id} changes after step {number}, which `tolerates` forbids"));
        }
        let changed: Vec<&String> = effect.before.changed_ids(effect.changed).collect();
        let mut kept = changed.iter().filter(|id| !effect.after.differs_from(effect.changed, id));
        if let Some(id) = kept.find(|id| effect.has_to_be_restored(id)) {
            let how = if effect.changed.has(id) { "as the step has changed it" } else { "deleted" };
            return Some(format!("{id}, which the controller has created, stays {how} after step {number}: {HINT}"));
        }
        let is_answered = effect.has_written || effect.after != effect.changed;
        let is_deleted = effect.given.iter().any(|id| effect.before.has(id) && !effect.changed.has(id));
        if changed.is_empty() || is_answered || is_deleted {
            return None;
        }
        Some(format!("nothing follows from step {number}: {HINT}"))
    }
}

const HINT: &str = "a controller that does nothing would pass. If that is right, use `tolerates` in place of `then`";

/// The undisturbed run around a step.
pub struct Effect<'s> {
    /// The state in which the controller had settled.
    pub before: &'s ClusterState,
    /// The state that the step has made of it.
    pub changed: &'s ClusterState,
    /// The state in which the controller has settled again.
    pub after: &'s ClusterState,
    /// True if the controller has written since the step.
    pub has_written: bool,
    /// The objects that the test has created.
    pub given: &'s BTreeSet<String>,
}

impl Effect<'_> {
    /// Returns whether the controller has to react to the change of an object: it has created the object, and the
    /// object has not been deleted with its owner.
    fn has_to_be_restored(&self, id: &str) -> bool {
        let owners = self.before.owner_ids(id);
        let has_owner = owners.is_empty() || owners.iter().any(|owner| self.changed.has(owner));
        self.before.has(id) && !self.given.contains(id) && (self.changed.has(id) || has_owner)
    }
}
