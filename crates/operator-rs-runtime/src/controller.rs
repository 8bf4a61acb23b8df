//! Runs a `reconcile` function whenever an object, or one that belongs to it, changes. It reads like
//! kube's `Controller`, which keeps no cache of children, cannot take own writes into its store, and
//! would need five times the requests; kube's `watcher`, `Store` and `applier` are what it is made of.

mod run;
mod verify;

use crate::{
    Operator,
    apply_set::Owned,
    cache::{
        Children, Link, Observed, Owners, Parent, Primary, References, Selection, Synced, Watch, Watched, by_mapper,
        by_owner, key,
    },
    queue::Queue,
    rights::{READ, Rights},
    worker::report_undecodable,
};
use futures::{FutureExt, Stream, StreamExt, future::BoxFuture};
use kube::runtime::{reflector::ObjectRef, watcher::Event};
use serde::Serialize;
use std::{future::ready, sync::Arc};
use tokio::sync::Semaphore;

/// Adds verbs of a kind to the rights that a controller needs in a namespace.
type Need = fn(&Rights, Option<&str>, &[&'static str]);

/// A controller of `K`s.
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
/// use runtime::{Action, Controller, Error, Labels, Operator};
/// use std::sync::Arc;
///
/// async fn run(operator: Operator) -> anyhow::Result<()> {
///     let mut controller = Controller::<Deployment>::new(&operator);
///     let configs = controller.owns::<ConfigMap>(&Labels::from([("app".into(), "a".into())]));
///     let reconcile = |deployment: Arc<Deployment>, configs: Arc<runtime::Children<ConfigMap>>| async move {
///         println!("it has {} ConfigMaps", configs.of(&*deployment).len());
///         Ok::<_, Error>(Action::await_change())
///     };
///     controller.run(reconcile, configs).await
/// }
/// ```
pub struct Controller<K: Watched> {
    operator: Operator,
    name: String,
    primary: Arc<Primary<K>>,
    queue: Arc<Queue>,
    owned: Arc<Owned<K>>,
    /// The tasks that run beside the reconciles.
    tasks: Vec<BoxFuture<'static, Result<(), String>>>,
    synced: Vec<(String, Synced)>,
    /// Of each kind that the primaries own: how it is added to the rights.
    writes: Vec<Need>,
    selections: Vec<Selection>,
}

impl<K: Watched + Serialize> Controller<K> {
    /// A controller of every `K` in the namespaces that the operator watches.
    pub fn new(operator: &Operator) -> Self {
        Self::with(operator, Watch::default())
    }

    /// A controller of the `K`s that a [`Watch`] selects.
    pub fn with(operator: &Operator, selected: Watch<K>) -> Self {
        let name = K::kind(&()).to_lowercase();
        let metrics = operator.metrics.controller(&name);
        metrics.max_concurrent(operator.settings.max_concurrent_reconciles);
        let queue = Queue::new(operator.settings.batch, metrics.clone());
        let trigger = trigger(&queue);
        let (client, claims) = (operator.client.clone(), &operator.watches.claims);
        let primary = Primary::new(client, operator.identity.name, claims, selected.filter(), trigger);
        if operator.dry_run.is_some() {
            primary.will_store_nothing();
        }
        let mut res = Self {
            operator: operator.clone(),
            name,
            primary: primary.clone(),
            queue,
            owned: Arc::default(),
            tasks: vec![],
            synced: vec![],
            writes: vec![],
            selections: vec![],
        };
        let operator = operator.clone();
        let reports = Arc::new(Semaphore::new(8));
        let observe = move |event: Event<Observed<K>>| {
            let about = match &event {
                Event::Apply(it) | Event::InitApply(it) => Some((it.key(), it.metadata.uid.clone())),
                _ => None,
            };
            let outcome = primary.observe(event);
            // A status was written of objects that are gone since.
            outcome.unseen.iter().for_each(|key| primary.forget(key, None));
            if outcome.undecodable.is_some() {
                metrics.terminal_error();
            }
            if let (Some(error), Some((key, uid)), Ok(permit)) =
                (outcome.undecodable, about, reports.clone().try_acquire_owned())
            {
                let report = report_undecodable(operator.clone(), primary.clone(), key, uid, error);
                tokio::spawn(report.map(|()| drop(permit)));
            }
        };
        res.follow(&selected, observe);
        res
    }

    /// The objects that are reconciled.
    pub fn primary(&self) -> Arc<Primary<K>> {
        self.primary.clone()
    }

    /// Reports failures by events and in the log only. Use it for kinds whose status belongs to another
    /// controller.
    pub fn without_conditions(&mut self) {
        self.primary.without_conditions();
    }

    /// Lets this annotation, with the value `true`, pause objects. Without this call it is `<domain>/paused`, with
    /// the API group of `K` or a domain above it: `cache.example.com/paused` or `example.com/paused`. The kinds of
    /// Kubernetes itself have none.
    ///
    /// An object that is paused is not reconciled, not even when it is being deleted, so that finalizers wait. The
    /// condition `Paused` and an event name the annotation; without it, the object is reconciled at once.
    ///
    /// ```no_run
    /// # fn run(operator: &runtime::Operator) {
    /// let mut controller = runtime::Controller::<k8s_openapi::api::apps::v1::Deployment>::new(operator);
    /// controller.paused_by("example.com/paused");
    /// # }
    /// ```
    pub fn paused_by(&mut self, annotation: &str) {
        self.primary.pause_by(annotation);
    }

    /// Watches the `C`s that primaries own, and returns a cache through which `reconcile` reads and
    /// writes them. With `PartialObjectMeta<C>`, the cache holds their metadata only, which is enough
    /// to detect changes by others.
    ///
    /// A kind that is owned twice, by this or by another controller of `K`, needs other labels each time if one of them
    /// [prunes](crate::ApplySet::prune): each deletes what it has not applied itself.
    pub fn owns<C: Watched>(&mut self, selected: impl Into<Watch<C>>) -> Arc<Children<C>> {
        let selected = selected.into();
        let (namespace, fields) = (self.operator.namespace.name(), selected.fields.as_deref());
        self.selections.push(Selection::new::<K, C>(namespace, &selected.labels, fields));
        let children = self.children(selected, Link::Owner(by_owner::<K, C>(), Owners::new(self.primary.clone())));
        self.owned.add(children.clone());
        children
    }

    /// All objects that the primaries own: see [`ApplySet`](crate::ApplySet).
    pub fn owned(&self) -> Arc<Owned<K>> {
        self.owned.clone()
    }

    /// Watches `C`s that belong to primaries without owner references. `parents` returns the primaries
    /// to reconcile: a `String` names one in the same namespace (or a cluster-scoped one), an
    /// `ObjectRef` one in any namespace. If `parents` panics, the panic is logged and nothing is
    /// reconciled. A controller of one namespace sees no primaries in others: naming one is logged.
    ///
    /// `parents` is called when a `C` changes, so it cannot know primaries that are created later. Where
    /// primaries refer to `C`s, use [`refers_to`](Self::refers_to).
    pub fn watches<C: Watched, I>(
        &mut self,
        selected: impl Into<Watch<C>>,
        parents: impl Fn(&C) -> I + Send + Sync + 'static,
    ) -> Arc<Children<C>>
    where
        I: IntoIterator<Item: Into<Parent>>,
    {
        self.children(selected.into(), Link::Mapper(by_mapper::<K, C, I>(self.operator.namespace.name(), parents)))
    }

    /// Watches `C`s that primaries refer to, such as Secrets. `targets` returns those of a primary: a
    /// `String` names one in the namespace of the primary, an `ObjectRef` one in any namespace. If one
    /// changes, every primary that refers to it is reconciled. A controller of one namespace sees nothing in
    /// others: a reference to there is logged.
    pub fn refers_to<C: Watched, I>(
        &mut self,
        selected: impl Into<Watch<C>>,
        targets: impl Fn(&K) -> I + Send + Sync + 'static,
    ) -> Arc<Children<C>>
    where
        I: IntoIterator<Item: Into<Parent>>,
    {
        let index = References::new::<C, I>(self.operator.namespace.name(), targets);
        self.primary.add_index(index.clone());
        self.children(selected.into(), Link::References(Box::new(move |key| index.to(key))))
    }

    /// Reconciles the primaries that a stream names, for triggers from outside the cluster.
    pub fn reconcile_on(&mut self, triggers: impl Stream<Item = ObjectRef<K>> + Send + 'static) {
        let queue = self.queue.clone();
        let add = move |it: ObjectRef<K>| {
            queue.add(&key(it.namespace.as_deref(), &it.name));
            ready(())
        };
        self.tasks.push(triggers.for_each(add).map(Ok).boxed());
    }

    fn children<C: Watched>(&mut self, selected: Watch<C>, link: Link<C>) -> Arc<Children<C>> {
        if let Link::Owner(..) = &link {
            self.writes.push(|rights, namespace, verbs| rights.need::<C>("", namespace, verbs));
        }
        let (client, manager) = (self.operator.client.clone(), self.operator.identity.name);
        let (filter, labels) = (selected.filter(), selected.labels.clone());
        let children = Children::new(client, manager, labels, filter, link, trigger(&self.queue));
        let cache = children.clone();
        let observe = move |event| {
            for key in cache.observe(event) {
                tokio::spawn(verify::verify(Arc::downgrade(&cache), key));
            }
        };
        self.follow(&selected, observe);
        children
    }

    /// Hands events to a cache, from the time when the controller runs.
    fn follow<C: Watched>(&mut self, selected: &Watch<C>, observe: impl FnMut(Event<Observed<C>>) + Send + 'static) {
        let synced = self.expect::<C>();
        let Operator { client, namespace, rights, watches, .. } = &self.operator;
        let subscription = watches.subscribe((client, namespace, rights), selected, synced, observe);
        self.tasks.push(subscription.run().boxed());
    }

    fn expect<C: Watched>(&mut self) -> tokio::sync::watch::Sender<bool> {
        let (sender, synced) = Synced::channel();
        let resource = format!("{}.{}", C::plural(&()), C::group(&()));
        self.synced.push((resource.trim_end_matches('.').to_owned(), synced));
        self.operator.rights.need::<C>("", self.operator.namespace.name(), &READ);
        sender
    }
}

fn trigger(queue: &Arc<Queue>) -> impl Fn(&str) + Send + Sync + 'static {
    let queue = queue.clone();
    move |key| queue.add(key)
}
