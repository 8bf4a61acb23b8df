//! Runs a `reconcile` function whenever an object, or one of its dependents, changes. Its interface is like that of
//! kube's `Controller`, which keeps no cache of dependents, cannot put own writes into its store, and would need five
//! times the requests. It is built from kube's `watcher` and `Store`.

mod run;
mod verify;

use crate::{
    Dependents, Manager, Owned, Primary, Referenced, Watched,
    cache::{
        Children, Link, ObjectName, Observed, Owners, PrimaryCache, References, Selection, Synced, WatchOptions,
        Watchable, by_annotation, by_mapper, by_owner, object_key,
    },
    permissions::{Permissions, READ},
    queue::FairQueue,
    worker::report_undecodable,
};
use futures::{FutureExt, Stream, StreamExt, future::BoxFuture};
use kube::runtime::{reflector::ObjectRef, watcher::Event};
use serde::Serialize;
use std::{future::ready, sync::Arc};
use tokio::sync::Semaphore;

/// A function that adds verbs of a kind to the permissions that a controller needs in a namespace.
type AddPermissions = fn(&Permissions, Option<&str>, &[&'static str]);

/// A controller of `K`s.
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use operator_rs_runtime::{Action, Controller, Labels, Manager, Owned, Result};
/// use std::sync::Arc;
///
/// async fn run(manager: Manager) -> Result<()> {
///     let mut controller = Controller::new(&manager);
///     let configs = controller.owns(&Labels::from([("app".into(), "a".into())]));
///     controller.run(reconcile, configs).await
/// }
///
/// async fn reconcile(deployment: Arc<Deployment>, configs: Owned<ConfigMap, Deployment>) -> Result<Action> {
///     println!("the Deployment owns {} ConfigMaps", configs.owned_by(&deployment).len());
///     Ok(Action::await_change())
/// }
/// ```
pub struct Controller<K: Watchable> {
    manager: Manager,
    name: String,
    primary: Arc<PrimaryCache<K>>,
    queue: Arc<FairQueue>,
    dependents: Dependents<K>,
    /// The tasks that run beside the reconciles.
    tasks: Vec<BoxFuture<'static, Result<(), String>>>,
    synced: Vec<(String, Synced)>,
    /// For each kind that the primaries own, a function that adds it to the permissions.
    writes: Vec<AddPermissions>,
    selections: Vec<Selection>,
}

impl<K: Watchable + Serialize> Controller<K> {
    /// Creates a controller of every `K` in the namespaces that the operator watches.
    pub fn new(manager: &Manager) -> Self {
        Self::with_watch_options(manager, WatchOptions::default())
    }

    /// Creates a controller of the `K`s that a [`WatchOptions`] selects.
    pub fn with_watch_options(manager: &Manager, selected: WatchOptions<K>) -> Self {
        let name = K::kind(&()).to_lowercase();
        let metrics = manager.metrics.controller(&name);
        metrics.max_concurrent(manager.settings.max_concurrent_reconciles);
        let queue = FairQueue::with_metrics(manager.settings.min_reconcile_interval, metrics.clone());
        let changes = queue.clone();
        let trigger = move |key: &str| changes.add_change(key);
        let (client, claims) = (manager.client.clone(), &manager.watches.claims);
        let primary = PrimaryCache::new(client, manager.identity.name, claims, selected.filter(), trigger);
        if manager.dry_run.is_some() {
            primary.enable_dry_run();
        }
        let mut controller = Self {
            manager: manager.clone(),
            name,
            primary: primary.clone(),
            queue,
            dependents: Dependents::new(primary.running.clone()),
            tasks: vec![],
            synced: vec![],
            writes: vec![],
            selections: vec![],
        };
        let manager = manager.clone();
        let reports = Arc::new(Semaphore::new(8));
        let observe = move |event: Event<Observed<K>>| {
            let about = match &event {
                Event::Apply(object) | Event::InitApply(object) => {
                    Some((object.object_key(), object.metadata.uid.clone()))
                }
                _ => None,
            };
            let outcome = primary.handle_event(event);
            // These objects no longer exist: the operator wrote their status, and they were deleted before the list.
            outcome.unseen.iter().for_each(|key| primary.record_deletion(key, None));
            if outcome.undecodable.is_some() {
                metrics.terminal_error();
            }
            if let (Some(error), Some((key, uid)), Ok(permit)) =
                (outcome.undecodable, about, reports.clone().try_acquire_owned())
            {
                let report = report_undecodable(manager.clone(), primary.clone(), key, uid, error);
                tokio::spawn(report.map(|()| drop(permit)));
            }
        };
        controller.subscribe_cache(&selected, observe);
        controller
    }

    /// Returns the handle of the objects that are reconciled, to read them and to write their status.
    pub fn primary(&self) -> Primary<K> {
        Primary::new(self.primary.clone())
    }

    /// Reports failures only by events and in the log. Use it for kinds whose status belongs to another controller.
    pub fn without_conditions(&mut self) {
        self.primary.disable_conditions();
    }

    /// Sets the annotation that pauses an object if its value is `true`. The default is `<domain>/paused`, where the
    /// domain is the API group of `K` or a parent domain of it: `cache.example.com/paused` or `example.com/paused`. For
    /// built-in kinds, there is no default.
    ///
    /// A paused object is not reconciled, not even when it is being deleted, so that its finalizers wait. The condition
    /// `Paused` and an event name the annotation. When the annotation is removed, the object is reconciled at once.
    ///
    /// ```no_run
    /// # fn run(manager: &operator_rs_runtime::Manager) {
    /// let mut controller = operator_rs_runtime::Controller::<k8s_openapi::api::apps::v1::Deployment>::new(manager);
    /// controller.pause_annotation("example.com/paused");
    /// # }
    /// ```
    pub fn pause_annotation(&mut self, annotation: &str) {
        self.primary.set_pause_annotation(annotation);
    }

    /// Watches the `C`s that primaries own, and returns the handle through which `reconcile` reads and applies them.
    /// They have an owner reference, so that Kubernetes deletes them with their owner. With `PartialObjectMeta<C>`, the
    /// cache holds their metadata only, which is enough to detect changes by others.
    ///
    /// If two calls of `owns` select the same objects, here or in another controller of `K`, and one of the controllers
    /// [prunes](Dependents::prune), then [`run`](Self::run) fails, because each would delete what the other applies.
    /// Give each call a different label.
    pub fn owns<C: Watchable>(&mut self, selected: impl Into<WatchOptions<C>>) -> Owned<C, K> {
        let link = Link::Owner(by_owner::<K, C>(), Owners::new(self.primary.clone()));
        self.create_owned("owns", selected.into(), link)
    }

    /// Watches `C`s that primaries own in other namespaces, or cluster-scoped `C`s of namespaced primaries. An owner
    /// reference cannot express this, so annotations name the owner, as those of operator-lib do:
    /// `operator-sdk/primary-resource` (`namespace/name`) and `operator-sdk/primary-resource-type` (`Kind.group`). A
    /// controller of one namespace can apply cluster-scoped objects, and those of its namespace.
    ///
    /// Kubernetes does not delete these objects with their owner. Use a [`finalizer`](crate::finalizer()), and
    /// [`prune`](Dependents::prune) in its clean-up:
    ///
    /// ```no_run
    /// use k8s_openapi::api::{core::v1::ConfigMap, rbac::v1::ClusterRole};
    /// use operator_rs_runtime::{Action, Dependents, FinalizerEvent, Owned, Primary, Result, finalizer};
    /// use std::sync::Arc;
    ///
    /// #[derive(Clone)]
    /// struct Handles {
    ///     configs: Primary<ConfigMap>,
    ///     roles: Owned<ClusterRole, ConfigMap>, // of `owns_by_annotation`
    ///     dependents: Dependents<ConfigMap>,
    /// }
    ///
    /// async fn reconcile(config: Arc<ConfigMap>, handles: Handles) -> Result<Action> {
    ///     finalizer(&handles.configs, "example.com/roles", config, async |event| {
    ///         match &event {
    ///             FinalizerEvent::Apply(config) => {
    ///                 let mut role = ClusterRole::default();
    ///                 role.metadata.name = Some("reader".into());
    ///                 handles.roles.apply(config, &role).await?;
    ///                 handles.dependents.prune(config).await?;
    ///             }
    ///             // Nothing is applied, so all dependents are deleted.
    ///             FinalizerEvent::Cleanup(config) => handles.dependents.prune(config).await?,
    ///         }
    ///         Ok(Action::await_change())
    ///     })
    ///     .await
    /// }
    /// ```
    ///
    /// The annotations name the owner without its uid. If an owner is deleted without that clean-up, and an object of
    /// its kind is created again with its namespace and name, the new object owns what the old one left: it updates the
    /// objects that it applies, and its `prune` deletes the others.
    ///
    /// Only objects that this operator has applied are updated or deleted. An object that another client created, or
    /// that has a controller, is [`Error::NotOwned`](crate::Error::NotOwned), whatever its annotations say; so is one
    /// whose annotations name another owner.
    pub fn owns_by_annotation<C: Watchable>(&mut self, selected: impl Into<WatchOptions<C>>) -> Owned<C, K> {
        let watched = self.manager.namespace.name().map(str::to_owned);
        self.create_owned("owns_by_annotation", selected.into(), Link::Annotation(by_annotation::<K, C>(), watched))
    }

    /// Returns the handle of all objects that the primaries own, of every kind, to delete those that are no longer
    /// desired.
    pub fn dependents(&self) -> Dependents<K> {
        self.dependents.clone()
    }

    /// Watches `C`s that primaries do not own. When a `C` changes, `mapper` returns the primaries to reconcile: a
    /// `String` names one in the same namespace (or a cluster-scoped one), an `ObjectRef` one in any namespace. If
    /// `mapper` panics, the panic is logged and nothing is reconciled. A controller of one namespace does not reconcile
    /// primaries in others; if `mapper` names one, this is logged.
    ///
    /// `mapper` is called when a `C` changes, so it cannot know primaries that are created later. If the primaries
    /// refer to the `C`s, use [`references`](Self::references).
    pub fn watches<C: Watchable, I>(
        &mut self,
        selected: impl Into<WatchOptions<C>>,
        mapper: impl Fn(&C) -> I + Send + Sync + 'static,
    ) -> Watched<C, K>
    where
        I: IntoIterator<Item: Into<ObjectName>>,
    {
        let link = Link::Mapper(by_mapper::<K, C, I>(self.manager.namespace.name(), mapper));
        Watched::new(self.create_children(selected.into(), link))
    }

    /// Watches `C`s that primaries refer to, such as Secrets. `targets` returns those of a primary: a
    /// `String` names one in the namespace of the primary, an `ObjectRef` one in any namespace. If one changes, every
    /// primary that refers to it is reconciled. A controller of one namespace sees no objects in others; a reference to
    /// another namespace is logged.
    pub fn references<C: Watchable, I>(
        &mut self,
        selected: impl Into<WatchOptions<C>>,
        targets: impl Fn(&K) -> I + Send + Sync + 'static,
    ) -> Referenced<C>
    where
        I: IntoIterator<Item: Into<ObjectName>>,
    {
        let index = References::new::<C, I>(self.manager.namespace.name(), targets);
        self.primary.add_index(index.clone());
        let link = Link::References(Box::new(move |key| index.referrers_of(key)));
        Referenced::new(self.create_children(selected.into(), link))
    }

    /// Reconciles the primaries that a stream names, for triggers from outside the cluster.
    pub fn reconcile_on(&mut self, triggers: impl Stream<Item = ObjectRef<K>> + Send + 'static) {
        let queue = self.queue.clone();
        let add = move |object: ObjectRef<K>| {
            queue.add(&object_key(object.namespace.as_deref(), &object.name));
            ready(())
        };
        self.tasks.push(triggers.for_each(add).map(Ok).boxed());
    }

    /// Creates the handle of objects that the primaries own. `method` is the name of the public method that was called.
    fn create_owned<C: Watchable>(
        &mut self,
        method: &'static str,
        selected: WatchOptions<C>,
        link: Link<C>,
    ) -> Owned<C, K> {
        let (namespace, fields) = (self.manager.namespace.name(), selected.fields.as_deref());
        self.selections.push(Selection::new::<K, C>(method, namespace, &selected.labels, fields));
        self.writes.push(|permissions, namespace, verbs| permissions.require_verbs::<C>("", namespace, verbs));
        let cache = self.create_children(selected, link);
        self.dependents.add(cache.clone());
        Owned::new(cache)
    }

    /// Creates the cache of the selected objects, and subscribes it to their watch.
    fn create_children<C: Watchable>(&mut self, selected: WatchOptions<C>, link: Link<C>) -> Arc<Children<C>> {
        let (client, manager) = (self.manager.client.clone(), self.manager.identity.name);
        let (filter, labels) = (selected.filter(), selected.labels.clone());
        let children = Children::new(client, manager, labels, filter, link, enqueue_trigger(&self.queue));
        let cache = children.clone();
        let observe = move |event| {
            for key in cache.handle_event(event) {
                tokio::spawn(verify::verify_until_answered(Arc::downgrade(&cache), key));
            }
        };
        self.subscribe_cache(&selected, observe);
        children
    }

    /// Passes the events of a watch to `observe`, once the controller is running.
    fn subscribe_cache<C: Watchable>(
        &mut self,
        selected: &WatchOptions<C>,
        observe: impl FnMut(Event<Observed<C>>) + Send + 'static,
    ) {
        let synced = self.register_cache::<C>();
        let Manager { client, namespace, permissions, watches, .. } = &self.manager;
        let subscription = watches.subscribe((client, namespace, permissions), selected, synced, observe);
        self.tasks.push(subscription.run().boxed());
    }

    /// Registers a cache that has to be filled before the controller reconciles, and the permissions that its watch
    /// needs.
    fn register_cache<C: Watchable>(&mut self) -> tokio::sync::watch::Sender<bool> {
        let (sender, synced) = Synced::channel();
        let resource = format!("{}.{}", C::plural(&()), C::group(&()));
        self.synced.push((resource.trim_end_matches('.').to_owned(), synced));
        self.manager.permissions.require_verbs::<C>("", self.manager.namespace.name(), &READ);
        sender
    }
}

/// Returns a function that adds the key of an object to the queue.
fn enqueue_trigger(queue: &Arc<FairQueue>) -> impl Fn(&str) + Send + Sync + 'static {
    let queue = queue.clone();
    move |key| queue.add(key)
}
