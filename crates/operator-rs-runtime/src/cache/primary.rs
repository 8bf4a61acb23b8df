//! The cache of the objects that a controller reconciles: a store of kube, which also gets the process's own writes,
//! and which never replaces a state by an older one.

use super::{
    Claims, Observed, References, Watchable, change,
    claims::Claimant,
    conditions::Conditions,
    filter::Filter,
    lock, object_ref,
    pause::PauseAnnotation,
    prune::RunningReconciles,
    recent::{RecentChanges, ResourceVersion},
    state::{ListedObject, PrimaryState},
};
use kube::{
    Client, Resource,
    runtime::{
        reflector::{Store, store::Writer},
        watcher::Event,
    },
};
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::time::Instant;

/// The objects that a controller reconciles, behind the handle [`Primary`](crate::Primary).
pub struct PrimaryCache<K: Watchable> {
    pub(super) client: Client,
    pub(super) field_manager: &'static str,
    pub(super) store: Store<K>,
    pub(super) filter: Filter<K>,
    pub(super) trigger: Box<dyn Fn(&str) + Send + Sync>,
    pub(super) state: Mutex<PrimaryState<K>>,
    /// Failures can be reported in a condition. Some kinds have no conditions.
    pub(super) has_conditions: AtomicBool,
    /// The last time that the API server has refused conditions because the kind has none.
    pub(super) refused: Mutex<Option<Instant>>,
    pub(super) claimant: Claimant,
    pause: Arc<PauseAnnotation>,
    is_dry_run: AtomicBool,
    pub(crate) running: Arc<RunningReconciles>,
}

/// The results of an event, besides the change of the cache.
#[derive(Default)]
pub(crate) struct EventOutcome {
    /// The keys of own writes that a list does not show.
    pub unseen: Vec<Box<str>>,
    /// The reason why an object cannot be decoded, unless the same state of the object was rejected before.
    pub undecodable: Option<String>,
}

impl<K: Watchable> PrimaryCache<K> {
    pub(crate) fn new(
        client: Client,
        field_manager: &'static str,
        claims: &Claims,
        filter: Filter<K>,
        trigger: impl Fn(&str) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let writer = Writer::default();
        let store = writer.as_reader();
        let state = PrimaryState {
            writer,
            recent: RecentChanges::default(),
            indexes: vec![],
            conditions: HashMap::new(),
            undecodable: HashMap::new(),
            undecodable_before: HashMap::new(),
            listed: HashMap::new(),
        };
        // Conditions of built-in kinds belong to the controllers of Kubernetes.
        let group = K::group(&());
        let has_conditions = AtomicBool::new(group.contains('.') && !group.ends_with(".k8s.io"));
        let (trigger, state, pause) =
            (Box::new(trigger), Mutex::new(state), Arc::new(PauseAnnotation::for_kind::<K>()));
        let paused = pause.clone();
        // A change of the annotation triggers a reconcile, whatever the predicate looks at.
        let filter = filter.with_property(move |object| paused.find_annotation(object.meta()).is_some());
        Arc::new(Self {
            client,
            field_manager,
            store,
            filter,
            trigger,
            state,
            has_conditions,
            refused: Mutex::default(),
            claimant: claims.add_claimant::<K>(),
            pause,
            is_dry_run: AtomicBool::new(false),
            running: Arc::default(),
        })
    }

    /// Tells the cache that the API server stores no writes.
    pub(crate) fn enable_dry_run(&self) {
        self.is_dry_run.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_dry_run(&self) -> bool {
        self.is_dry_run.load(Ordering::Relaxed)
    }

    /// Lets this annotation pause objects, instead of the default one.
    pub(crate) fn set_pause_annotation(&self, annotation: &str) {
        self.pause.set_annotation(annotation);
    }

    /// Returns the annotation that pauses an object, if it has one.
    pub(crate) fn paused_by<'a>(&self, object: &'a K) -> Option<&'a str> {
        self.pause.find_annotation(object.meta())
    }

    /// Returns the objects as a store of kube.
    pub fn store(&self) -> Store<K> {
        self.store.clone()
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn add_index(&self, index: Arc<References<K>>) {
        lock(&self.state).indexes.push(index);
    }

    /// Returns the latest known state of an object, which includes own writes.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<K>> {
        self.store.get(&object_ref(key))
    }

    /// Returns whether the latest state of an object cannot be decoded.
    pub(crate) fn is_undecodable(&self, key: &str) -> bool {
        lock(&self.state).undecodable.contains_key(key)
    }

    /// Returns the keys of the objects whose latest state cannot be decoded.
    pub(crate) fn undecodable_keys(&self) -> Vec<Box<str>> {
        lock(&self.state).undecodable.keys().cloned().collect()
    }

    /// Stores the object of an event, and triggers a reconcile unless the event only repeats an own write.
    pub(crate) fn handle_event(&self, event: Event<Observed<K>>) -> EventOutcome {
        match event {
            Event::Init => {
                let mut state = lock(&self.state);
                state.recent.begin_list();
                state.listed.clear();
                let undecodable = std::mem::take(&mut state.undecodable);
                state.undecodable_before.extend(undecodable);
                state.writer.apply_watcher_event(&Event::Init);
            }
            Event::InitDone => return EventOutcome { unseen: self.finish_list(), undecodable: None },
            Event::InitApply(observed) => {
                let object = match observed.decode() {
                    Ok(object) => object,
                    Err(error) => return self.reject_undecodable(&observed, &error),
                };
                let (key, version) = (observed.object_key(), observed.numeric_version());
                // The filter remembers the hash only when the list ends, because an interrupted list triggers nothing.
                let hash = self.filter.hash_object(&key, &object);
                let conditions = Conditions::from_observed(&observed, self.field_manager);
                let listed = ListedObject { version, uid: observed.metadata.uid, hash, conditions };
                let mut state = lock(&self.state);
                state.writer.apply_watcher_event(&Event::InitApply(object));
                state.listed.insert(key, listed);
            }
            Event::Apply(observed) => {
                let object = match observed.decode() {
                    Ok(object) => object,
                    Err(error) => return self.reject_undecodable(&observed, &error),
                };
                let key = observed.object_key();
                let is_news = self.filter.record_change(&key, &object);
                let mut state = lock(&self.state);
                let current = self.get(&key).map(|current| numeric_version(&*current));
                if !state.recent.record_event(&key, observed.numeric_version(), current) {
                    return EventOutcome::default();
                }
                state.update_conditions(&key, &observed, self.field_manager);
                state.store_object(&key, object);
                drop(state);
                if is_news {
                    (self.trigger)(&key);
                }
            }
            Event::Delete(observed) => self.record_deletion(&observed.object_key(), observed.numeric_version()),
        }
        EventOutcome::default()
    }

    /// Removes an object that no longer exists, and triggers a reconcile, which does not find it. `version` is the last
    /// known version of the object.
    pub(crate) fn record_deletion(&self, key: &str, version: ResourceVersion) {
        let mut state = lock(&self.state);
        let current = self.get(key);
        if state.recent.record_deletion(key, version, current.as_ref().map(|current| numeric_version(&**current))) {
            state.remove_object(key, current);
            state.undecodable.remove(key);
            drop(state);
            self.filter.forget_object(key);
            (self.trigger)(key);
        }
    }

    /// Removes an object whose latest state cannot be decoded, so that it is not reconciled with an older state.
    fn reject_undecodable(&self, observed: &Observed<K>, error: &serde_json::Error) -> EventOutcome {
        let (key, version) = (observed.object_key(), observed.numeric_version());
        let mut state = lock(&self.state);
        state.remove_object(&key, self.get(&key));
        self.filter.forget_object(&key);
        let is_known = state.undecodable_before.get(&key) == Some(&version);
        let is_news = state.undecodable.insert(key, version) != Some(version) && !is_known;
        EventOutcome { undecodable: is_news.then(|| error.to_string()), ..EventOutcome::default() }
    }

    /// Stores the object that the API server returned for an own write of `sent`. If it shows a change by another
    /// client that the watch has not shown yet, this triggers a reconcile.
    pub(super) fn record_write(&self, after: &Observed<K>, sent: &Value) -> Result<(), serde_json::Error>
    where
        K: Serialize,
    {
        let (key, object) = (after.object_key(), after.decode()?);
        let mut state = lock(&self.state);
        let current = self.get(&key);
        let current_version = current.as_ref().map(|current| numeric_version(&**current));
        if !state.recent.record_write(&key, after.numeric_version(), current_version) {
            return Ok(());
        }
        // An object that is not in the cache is either new, and the watch will show it, or it has been deleted.
        let Some(current) = current else { return Ok(()) };
        let is_news = current.meta().uid != object.meta().uid
            || change::has_foreign_changes(&serde_json::to_value(&*current)?, &serde_json::to_value(&object)?, sent);
        state.update_conditions(&key, after, self.field_manager);
        state.store_object(&key, object);
        drop(state);
        if is_news {
            (self.trigger)(&key);
        }
        Ok(())
    }
}

/// Returns the resource version of an object as a number.
pub(super) fn numeric_version(object: &impl Resource) -> ResourceVersion {
    object.meta().resource_version.as_deref()?.parse().ok()
}
