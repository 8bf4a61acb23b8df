//! Watches that controllers share: for each selection of objects, a process has one list and one watch, whatever the
//! number of caches that follow it. kube's shared streams drop events that a slow reader misses, whereas here each
//! cache handles an event before the next one is read.

use super::{Claims, Observed, Selections, WatchOptions, Watchable, lock, watch};
use crate::{permissions::Permissions, scope::NamespaceScope};
use futures::{FutureExt, future::BoxFuture};
use kube::{
    Api, Client,
    runtime::watcher::{self, Event},
};
use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};
use tokio::{
    sync::{
        Notify,
        watch::{Receiver, Sender},
    },
    time::sleep,
};
use tokio_util::task::AbortOnDropHandle;

/// The time to wait before the first list, so that controllers that start together share it.
const FIRST_LIST_DELAY: Duration = Duration::from_millis(10);

/// The watches of a process, the conditions that its controllers report, and the dependents that they own. Clones share
/// them.
#[derive(Clone, Default)]
pub(crate) struct SharedWatches {
    watches: Arc<Mutex<BTreeMap<WatchKey, Box<dyn Any + Send + Sync>>>>,
    pub(crate) claims: Claims,
    pub(crate) owned: Selections,
}

/// The key of a watch: the type, the namespace, the label selector and the field selector.
type WatchKey = (TypeId, Option<String>, Option<String>, Option<String>);

impl fmt::Debug for SharedWatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} watches", lock(&self.watches).len())
    }
}

impl SharedWatches {
    /// Passes every event of the selected objects to `observe`, once the subscription is running. Sets `synced` when
    /// all objects have been listed.
    pub(crate) fn subscribe<C: Watchable>(
        &self,
        (client, namespace, permissions): (&Client, &NamespaceScope, &Permissions),
        selected: &WatchOptions<C>,
        synced: Sender<bool>,
        observe: impl FnMut(Event<Observed<C>>) + Send + 'static,
    ) -> Subscription<C> {
        let config = selected.config();
        let (labels, fields) = (config.label_selector.clone(), config.field_selector.clone());
        let watch_key = (TypeId::of::<C>(), namespace.name().map(Into::into), labels, fields);
        let mut all = lock(&self.watches);
        let existing = all.get(&watch_key).and_then(|watch| watch.downcast_ref::<Weak<SharedWatch<C>>>()?.upgrade());
        let shared_watch = existing.unwrap_or_else(|| {
            let shared_watch = SharedWatch::new(namespace.api(client), config, permissions.clone());
            all.insert(watch_key, Box::new(Arc::downgrade(&shared_watch)));
            shared_watch
        });
        let observer = Observer { is_active: false, observe: Box::new(observe), synced };
        let id = lock(&shared_watch.observers).add(observer);
        shared_watch.restart.notify_one();
        Subscription { shared_watch, id }
    }
}

/// One watch, and the caches that follow it.
struct SharedWatch<C> {
    observers: Mutex<Observers<C>>,
    /// Notified when there is a new cache, so that the watch restarts with a list.
    restart: Arc<Notify>,
    /// The reason why the watch has ended.
    end: Receiver<Option<String>>,
    driver: Mutex<Driver>,
}

struct Observers<C> {
    last: u64,
    by_id: BTreeMap<u64, Observer<C>>,
}

struct Observer<C> {
    /// The observer has seen the begin of a list.
    is_active: bool,
    observe: Box<dyn FnMut(Event<Observed<C>>) + Send>,
    synced: Sender<bool>,
}

/// The task that runs the watch.
enum Driver {
    Waiting(BoxFuture<'static, ()>),
    Running { _task: AbortOnDropHandle<()> },
    Starting,
}

impl<C> Observers<C> {
    fn add(&mut self, observer: Observer<C>) -> u64 {
        self.last += 1;
        self.by_id.insert(self.last, observer);
        self.last
    }
}

impl<C: Watchable> SharedWatch<C> {
    fn new(api: Api<Observed<C>>, config: watcher::Config, permissions: Permissions) -> Arc<Self> {
        let (sender, end) = tokio::sync::watch::channel(None);
        let restart = Arc::new(Notify::new());
        Arc::new_cyclic(|shared_watch: &Weak<Self>| {
            let driver = run_watch(shared_watch.clone(), (api, config, permissions), restart.clone(), sender).boxed();
            let observers = Mutex::new(Observers { last: 0, by_id: BTreeMap::new() });
            Self { observers, restart, end, driver: Mutex::new(Driver::Waiting(driver)) }
        })
    }

    fn ensure_started(&self) {
        let mut driver = lock(&self.driver);
        *driver = match std::mem::replace(&mut *driver, Driver::Starting) {
            Driver::Waiting(future) => Driver::Running { _task: AbortOnDropHandle::new(tokio::spawn(future)) },
            other => other,
        };
    }

    fn dispatch_event(&self, event: Event<Observed<C>>) {
        let (begins, ends) = (matches!(event, Event::Init), matches!(event, Event::InitDone));
        let observers = &mut *lock(&self.observers);
        let mut active = observers.by_id.values_mut().filter_map(|observer| {
            observer.is_active |= begins;
            observer.is_active.then_some(observer)
        });
        let mut next = active.next();
        while let Some(observer) = next {
            next = active.next();
            if next.is_none() {
                // The last observer gets the event itself. Most watches have one cache, so that no event is cloned.
                (observer.observe)(event);
                observer.synced.send_if_modified(|synced| !std::mem::replace(synced, *synced || ends) && ends);
                return;
            }
            (observer.observe)(event.clone());
            observer.synced.send_if_modified(|synced| !std::mem::replace(synced, *synced || ends) && ends);
        }
    }
}

/// Runs the watch until no cache follows it, or until it ends with a reason why a retry is useless.
async fn run_watch<C: Watchable>(
    shared_watch: Weak<SharedWatch<C>>,
    (api, config, permissions): (Api<Observed<C>>, watcher::Config, Permissions),
    restart: Arc<Notify>,
    end: Sender<Option<String>>,
) {
    sleep(FIRST_LIST_DELAY).await;
    loop {
        let observe = |event| {
            if let Some(shared_watch) = shared_watch.upgrade() {
                shared_watch.dispatch_event(event);
            }
        };
        tokio::select! {
            biased;
            // The watch restarts, and all caches see a list.
            () = restart.notified() => {}
            ended = watch(api.clone(), config.clone(), permissions.clone(), observe) => {
                end.send_replace(Some(ended.err().unwrap_or_default()));
                return;
            }
        }
    }
}

/// The subscription of a cache to a watch, which ends when it is dropped.
pub(crate) struct Subscription<C> {
    shared_watch: Arc<SharedWatch<C>>,
    id: u64,
}

impl<C: Watchable> Subscription<C> {
    /// Starts the watch unless another cache has started it. Returns only when the watch has ended, with the reason.
    pub async fn run(self) -> Result<(), String> {
        self.shared_watch.ensure_started();
        let mut end = self.shared_watch.end.clone();
        let why = end.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        Err(why.unwrap_or_else(|| format!("the watch of {} has failed", C::plural(&()))))
    }
}

impl<C> Drop for Subscription<C> {
    fn drop(&mut self) {
        let observer = lock(&self.shared_watch.observers).by_id.remove(&self.id);
        drop(observer);
    }
}
