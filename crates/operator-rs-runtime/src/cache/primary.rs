//! The objects that are reconciled: kube's store of them, fed in the right order and with the
//! process's own writes.

use super::{
    Claims, Observed, References, Watchable, change,
    claims::Claimant,
    conditions::Conditions,
    filter::Filter,
    lock, object_ref,
    pause::Pause,
    prune::Running,
    recent::{Recent, Version},
    state::{Listed, State},
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
    pub(super) state: Mutex<State<K>>,
    /// Whether failures can be reported in a condition: some kinds have none.
    pub(super) has_conditions: AtomicBool,
    /// The last time that the API server knew no conditions of the kind.
    pub(super) refused: Mutex<Option<Instant>>,
    pub(super) claimant: Claimant,
    pause: Arc<Pause>,
    is_dry_run: AtomicBool,
    /// The reconciles that run.
    pub(crate) running: Arc<Running>,
}

/// The results of an event, besides the change of the cache.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The keys of own writes that a list does not show.
    pub unseen: Vec<Box<str>>,
    /// The reason that an object cannot be decoded, if it is new.
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
        let state = State {
            writer,
            recent: Recent::default(),
            indexes: vec![],
            conditions: HashMap::new(),
            undecodable: HashMap::new(),
            undecodable_before: HashMap::new(),
            listed: HashMap::new(),
        };
        // The kinds of Kubernetes itself have conditions of their own controllers.
        let group = K::group(&());
        let has_conditions = AtomicBool::new(group.contains('.') && !group.ends_with(".k8s.io"));
        let (trigger, state, pause) = (Box::new(trigger), Mutex::new(state), Arc::new(Pause::of::<K>()));
        let paused = pause.clone();
        // No predicate hides that the annotation comes or goes.
        let filter = filter.with(move |it| paused.annotation(it.meta()).is_some());
        Arc::new(Self {
            client,
            field_manager,
            store,
            filter,
            trigger,
            state,
            has_conditions,
            refused: Mutex::default(),
            claimant: claims.claimant::<K>(),
            pause,
            is_dry_run: AtomicBool::new(false),
            running: Arc::default(),
        })
    }

    /// Nothing that is written will be stored.
    pub(crate) fn will_store_nothing(&self) {
        self.is_dry_run.store(true, Ordering::Relaxed);
    }

    /// Whether nothing that is written will be stored.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.is_dry_run.load(Ordering::Relaxed)
    }

    /// Lets this annotation pause objects, and no other.
    pub(crate) fn pause_by(&self, annotation: &str) {
        self.pause.choose(annotation);
    }

    /// The annotation that pauses an object, if it has one.
    pub(crate) fn paused_by<'a>(&self, object: &'a K) -> Option<&'a str> {
        self.pause.annotation(object.meta())
    }

    /// The objects, as a store of kube.
    pub fn store(&self) -> Store<K> {
        self.store.clone()
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) fn add_index(&self, index: Arc<References<K>>) {
        lock(&self.state).indexes.push(index);
    }

    /// An object as it is known now, own writes included.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<K>> {
        self.store.get(&object_ref(key))
    }

    /// Whether the latest state of an object cannot be decoded.
    pub(crate) fn is_undecodable(&self, key: &str) -> bool {
        lock(&self.state).undecodable.contains_key(key)
    }

    /// The keys of objects whose latest state cannot be decoded.
    pub(crate) fn undecodable(&self) -> Vec<Box<str>> {
        lock(&self.state).undecodable.keys().cloned().collect()
    }

    /// Stores an event, and triggers a reconcile unless it only repeats an own write.
    pub(crate) fn observe(&self, event: Event<Observed<K>>) -> Outcome {
        match event {
            Event::Init => {
                let mut state = lock(&self.state);
                state.recent.list_begins();
                state.listed.clear();
                let undecodable = std::mem::take(&mut state.undecodable);
                state.undecodable_before.extend(undecodable);
                state.writer.apply_watcher_event(&Event::Init);
            }
            Event::InitDone => return Outcome { unseen: self.list_ends(), undecodable: None },
            Event::InitApply(observed) => {
                let object = match observed.decode() {
                    Ok(it) => it,
                    Err(error) => return self.reject(&observed, &error),
                };
                let (key, version) = (observed.key(), observed.version());
                // It is remembered only when the list ends: an interrupted one has triggered nothing.
                let hash = self.filter.hash(&key, &object);
                let conditions = Conditions::of(&observed, self.field_manager);
                let listed = Listed { version, uid: observed.metadata.uid, hash, conditions };
                let mut state = lock(&self.state);
                state.writer.apply_watcher_event(&Event::InitApply(object));
                state.listed.insert(key, listed);
            }
            Event::Apply(observed) => {
                let object = match observed.decode() {
                    Ok(it) => it,
                    Err(error) => return self.reject(&observed, &error),
                };
                let key = observed.key();
                let is_news = self.filter.is_news(&key, &object);
                let mut state = lock(&self.state);
                let current = self.get(&key).map(|it| version(&*it));
                if !state.recent.applied(&key, observed.version(), current) {
                    return Outcome::default();
                }
                state.look_at_conditions(&key, &observed, self.field_manager);
                state.put(&key, object);
                drop(state);
                if is_news {
                    (self.trigger)(&key);
                }
            }
            Event::Delete(observed) => self.forget(&observed.key(), observed.version()),
        }
        Outcome::default()
    }

    /// An object is gone. The reconcile that is triggered finds that out.
    pub(crate) fn forget(&self, key: &str, at: Version) {
        let mut state = lock(&self.state);
        let current = self.get(key);
        if state.recent.deleted(key, at, current.as_ref().map(|it| version(&**it))) {
            state.remove(key, current);
            state.undecodable.remove(key);
            drop(state);
            self.filter.forget(key);
            (self.trigger)(key);
        }
    }

    /// An object that cannot be decoded is not reconciled, not by an older state of it either.
    fn reject(&self, observed: &Observed<K>, error: &serde_json::Error) -> Outcome {
        let (key, at) = (observed.key(), observed.version());
        let mut state = lock(&self.state);
        state.remove(&key, self.get(&key));
        self.filter.forget(&key);
        let is_known = state.undecodable_before.get(&key) == Some(&at);
        let is_news = state.undecodable.insert(key, at) != Some(at) && !is_known;
        Outcome { undecodable: is_news.then(|| error.to_string()), ..Outcome::default() }
    }

    /// Remembers what an own write returned, which has written `sent`. Where it shows a change by others
    /// that the watch has not shown yet, a reconcile is due.
    pub(super) fn wrote(&self, after: &Observed<K>, sent: &Value) -> Result<(), serde_json::Error>
    where
        K: Serialize,
    {
        let (key, object) = (after.key(), after.decode()?);
        let mut state = lock(&self.state);
        let current = self.get(&key);
        if !state.recent.wrote(&key, after.version(), current.as_ref().map(|it| version(&**it))) {
            return Ok(());
        }
        // One that the watch does not show has come just now, or is gone: an event will say so, or none.
        let Some(current) = current else { return Ok(()) };
        let is_news = current.meta().uid != object.meta().uid
            || change::is_news(&serde_json::to_value(&*current)?, &serde_json::to_value(&object)?, sent);
        state.look_at_conditions(&key, after, self.field_manager);
        state.put(&key, object);
        drop(state);
        if is_news {
            (self.trigger)(&key);
        }
        Ok(())
    }
}

pub(super) fn version(object: &impl Resource) -> Version {
    object.meta().resource_version.as_deref()?.parse().ok()
}
