//! The methods by which a test injects faults, and follows the watches.

use super::{
    Cluster,
    delivery::{Delivery, Progress},
    fault::{Fault, FaultRule, FaultTarget},
    request::Request,
};
use std::collections::BTreeMap;

impl Cluster {
    /// With this fault from the beginning; see [`inject`](Self::inject).
    pub fn with_fault(self, fault: impl Into<FaultRule>) -> Self {
        self.inject(fault);
        self
    }

    /// Injects a fault from now on. If rules for requests were injected before, the first one that hits a request
    /// decides.
    ///
    /// ```
    /// use k8s_openapi::api::apps::v1::Deployment;
    /// use operator_rs_testing::{Cluster, Fault};
    ///
    /// let cluster = Cluster::default();
    /// cluster.inject(Fault::Refuse { code: 422 }.on_writes_of::<Deployment>());
    /// cluster.inject(Fault::RepeatEvents);
    /// ```
    ///
    /// # Panics
    /// If the fault has a code that is not an HTTP error.
    pub fn inject(&self, fault: impl Into<FaultRule>) {
        match fault.into().target {
            FaultTarget::Requests(decide) => self.state().rules.0.push(decide),
            FaultTarget::Watches(fault) => self.inject_into_watches(fault),
        }
    }

    fn inject_into_watches(&self, fault: Fault) {
        match fault {
            Fault::DelayEvents { delay } => self.change_delivery(|delivery| delivery.delay = delay),
            Fault::HoldEvents => self.change_delivery(|delivery| delivery.is_held = true),
            Fault::RepeatEvents => self.change_delivery(|delivery| delivery.is_repeated = true),
            Fault::LoseEvents { gone_after } => {
                self.change_delivery(|delivery| delivery.lost_until_gone = Some(gone_after));
            }
            Fault::EndWatches => self.change_delivery(|delivery| delivery.ended_watches += 1),
            Fault::ForgetHistory => self.forget_history(),
            _ => unreachable!("`{fault:?}` hits requests"),
        }
    }

    /// Removes the rules for requests, and the faults of watches as [`remove_watch_faults`](Self::remove_watch_faults)
    /// does.
    pub fn remove_faults(&self) {
        self.state().rules.0.clear();
        self.remove_watch_faults();
    }

    /// Delivers watch events as usual again, those that were held too. The watches that have lost events end with 410
    /// Gone.
    pub fn remove_watch_faults(&self) {
        self.change_delivery(|delivery| {
            *delivery = Delivery { ended_watches: delivery.ended_watches, ..Delivery::default() }
        });
    }

    /// Removes [`Fault::HoldEvents`] alone: the events that were held are delivered.
    pub fn release_events(&self) {
        self.change_delivery(|delivery| delivery.is_held = false);
    }

    /// Waits until a request was carried out whose response is lost, by [`Fault::LoseResponse`].
    pub async fn wait_for_lost_response(&self) {
        let mut count = self.shared.lost_responses.subscribe();
        let _ = count.wait_for(|count| *count > 0).await;
    }

    /// Returns the number of open watches of a resource such as `deployments.apps`; see
    /// [`resource_name`](super::resource_name).
    pub fn open_watches(&self, resource: &str) -> usize {
        self.state().watching.values().filter(|watch| watch.resource == resource && !watch.dead.is_cancelled()).count()
    }

    /// Counts for each resource the open watches that have delivered everything.
    pub(super) fn watches_up_to_date(&self) -> BTreeMap<String, usize> {
        let state = &mut *self.state();
        let mut counts = BTreeMap::new();
        for progress in state.watching.values().filter(|watch| !watch.has_lost_events && !watch.dead.is_cancelled()) {
            let last = state.store.collection(&progress.resource).history.back().map_or(0, |change| change.version);
            if last <= progress.seen {
                *counts.entry(progress.resource.clone()).or_default() += 1;
            }
        }
        counts
    }

    /// The fault that hits a request.
    pub(super) fn fault_of(&self, request: &Request) -> Option<Fault> {
        let rules = self.state().rules.0.clone();
        let fault = rules.iter().find_map(|decide| decide(request))?;
        fault.check_code();
        assert!(!fault.is_of_watches(), "a `FaultRule` decided `{fault:?}`, which hits watches: pass it to `inject`");
        Some(fault)
    }

    /// Notes how far a watch is; `None` when it is closed.
    pub(super) fn note_progress(&self, id: u64, progress: Option<Progress>) {
        let watching = &mut self.state().watching;
        match progress {
            Some(progress) => drop(watching.insert(id, progress)),
            None => drop(watching.remove(&id)),
        }
    }

    fn forget_history(&self) {
        self.with_pages(|store, pages| {
            pages.forget_all();
            for collection in store.collections_mut() {
                collection.forgotten = collection.history.back().map_or(collection.forgotten, |change| change.version);
                collection.history.clear();
            }
        });
    }

    fn change_delivery(&self, change: impl FnOnce(&mut Delivery)) {
        self.shared.control.send_modify(change);
    }
}
