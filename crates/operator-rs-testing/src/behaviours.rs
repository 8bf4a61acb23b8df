//! The methods by which a test makes the server fail.

use super::{
    Cluster,
    behaviour::{Delivery, Progress, Reaction},
    refusal::Refusal,
    request::Request,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

impl Cluster {
    /// Asks `rule` about every request before it is carried out. The first rule that does not let one pass decides.
    pub fn on(self, rule: impl Fn(&Request) -> Reaction + Send + Sync + 'static) -> Self {
        self.state().behaviour.rules.push(Arc::new(rule));
        self
    }

    /// Asks `rule` about every write.
    pub fn on_write(self, rule: impl Fn(&Request) -> Reaction + Send + Sync + 'static) -> Self {
        self.on(move |it| if it.is_write() { rule(it) } else { Reaction::Pass })
    }

    /// Refuses to write these, as invalid.
    pub fn refusing(self, resource: &str) -> Self {
        let resource = resource.to_owned();
        self.on_write(move |it| if it.resource == resource { Reaction::code(422) } else { Reaction::Pass })
    }

    /// Refuses to list and watch these: 403.
    pub fn forbidding(self, resource: &str) -> Self {
        let resource = resource.to_owned();
        self.on(move |it| {
            if it.resource != resource || !["list", "watch"].contains(&it.verb) {
                return Reaction::Pass;
            }
            let (plural, group) = resource.split_once('.').unwrap_or((&resource, ""));
            let why = format!("cannot {} resource \"{plural}\" in API group \"{group}\"", it.verb);
            let message = format!("{resource} is forbidden: User \"operator\" {why} at the cluster scope");
            Reaction::Refuse(Refusal::new(403, "Forbidden", message))
        })
    }

    /// Never answers a request for these.
    pub fn hanging(self, resource: &str) -> Self {
        let resource = resource.to_owned();
        self.on(move |it| if it.resource == resource { Reaction::Hang } else { Reaction::Pass })
    }

    /// Refuses the write after the first `before` ones with this HTTP status code.
    pub fn failing(self, before: usize, code: u16) -> Self {
        self.on_write(move |it| if it.nth_write == Some(before) { Reaction::code(code) } else { Reaction::Pass })
    }

    /// Carries out the write after the first `before` ones, but answers with this HTTP status code.
    pub fn losing(self, before: usize, code: u16) -> Self {
        let lose = move || Reaction::Lose(Refusal::with_code(code));
        self.on_write(move |it| if it.nth_write == Some(before) { lose() } else { Reaction::Pass })
    }

    /// Refuses the first write to each resource with 409 Conflict.
    pub fn conflicting(self) -> Self {
        let seen = Mutex::new(BTreeSet::new());
        self.on_write(move |it| {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.insert(it.what()) { Reaction::code(409) } else { Reaction::Pass }
        })
    }

    /// Carries out the write after the first `before` ones, but never answers it.
    pub fn swallowing(self, before: usize) -> Self {
        self.on_write(move |it| if it.nth_write == Some(before) { Reaction::Swallow } else { Reaction::Pass })
    }

    /// Waits until a request was carried out that is never answered.
    pub async fn until_swallowed(&self) {
        let mut count = self.shared.swallowed.subscribe();
        let _ = count.wait_for(|it| 0 < *it).await;
    }

    /// Delivers each watch event this long after its change.
    pub fn delay_watches(&self, delay: Duration) {
        self.deliver(|it| it.delay = delay);
    }

    /// Delivers no watch events until they are released.
    pub fn hold_watches(&self) {
        self.deliver(|it| it.held = true);
    }

    /// Delivers watch events again, those that were held too.
    pub fn release_watches(&self) {
        self.deliver(|it| it.held = false);
    }

    /// Delivers each watch event twice.
    pub fn double_events(&self) {
        self.deliver(|it| it.doubled = true);
    }

    /// Loses all watch events. A watch that has lost events ends with 410 Gone after `quiet` without another loss.
    pub fn drop_events(&self, quiet: Duration) {
        self.deliver(|it| it.dropped = Some(quiet));
    }

    /// Delivers watch events as usual; the watches that have lost some end with 410 Gone.
    pub fn deliver_events(&self) {
        self.deliver(|it| *it = Delivery { breaks: it.breaks, ..Delivery::default() });
    }

    /// Ends all watches that are open now.
    pub fn break_watches(&self) {
        self.deliver(|it| it.breaks += 1);
    }

    /// Forgets the history: a watch from an older version gets 410 Gone, and so does the next page of a list.
    pub fn forget_history(&self) {
        self.with_pages(|store, pages| {
            pages.forget();
            for it in store.collections_mut() {
                it.forgotten = it.history.back().map_or(it.forgotten, |it| it.version);
                it.history.clear();
            }
        });
    }

    /// How many watches of a resource are open.
    pub fn watches(&self, resource: &str) -> usize {
        self.state().watching.values().filter(|it| it.resource == resource && !it.dead.is_cancelled()).count()
    }

    /// How many watches of each resource are open and have delivered everything.
    pub fn watches_up_to_date(&self) -> BTreeMap<String, usize> {
        let state = &mut *self.state();
        let mut counts = BTreeMap::new();
        for it in state.watching.values().filter(|it| !it.lost && !it.dead.is_cancelled()) {
            let last = state.store.collection(&it.resource).history.back().map_or(0, |it| it.version);
            if last <= it.seen {
                *counts.entry(it.resource.clone()).or_default() += 1;
            }
        }
        counts
    }

    pub(super) fn reaction(&self, request: &Request) -> Reaction {
        let rules = self.state().behaviour.rules.clone();
        rules.iter().map(|rule| rule(request)).find(|it| *it != Reaction::Pass).unwrap_or(Reaction::Pass)
    }

    /// Notes how far a watch is; `None` when it is closed.
    pub(super) fn watching(&self, id: u64, progress: Option<Progress>) {
        let watching = &mut self.state().watching;
        match progress {
            Some(progress) => drop(watching.insert(id, progress)),
            None => drop(watching.remove(&id)),
        }
    }

    fn deliver(&self, change: impl FnOnce(&mut Delivery)) {
        self.shared.control.send_modify(change);
    }
}
