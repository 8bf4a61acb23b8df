//! Objects that belong to a reconciled one: read from the watch, written only where they differ.

use super::{
    Kind, Triggers, Watched,
    entry::{ByParent, Entry, State, id, insert},
    version, watch,
};
use crate::runtime::{Error, NAME, drift, guard::Guarded, scope::Scope};
use futures::{StreamExt, stream};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        controller::ReconcileRequest,
        reflector::ObjectRef,
        watcher::{self, Event},
    },
};
use serde::Serialize;
use serde_json::Value;
use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

type Parent<K> = Box<dyn Fn(&K) -> Option<String> + Send + Sync>;

/// Objects of one kind by the primary object that they belong to.
pub struct Children<K> {
    client: Client,
    parent: Parent<K>,
    /// Whether parents live in the namespaces of their children, or in none.
    in_namespace: bool,
    state: Mutex<State>,
    ready: tokio::sync::watch::Sender<bool>,
}

impl<K: Watched + Serialize> Children<K> {
    /// `parent` names the `P` that an object belongs to.
    pub fn new<P: Kind>(client: Client, parent: impl Fn(&K) -> Option<String> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            client,
            parent: Box::new(parent),
            in_namespace: P::Scope::NAMESPACED,
            state: Mutex::default(),
            ready: tokio::sync::watch::Sender::new(false),
        })
    }

    /// The objects that belong to `parent`.
    pub fn of(&self, parent: &impl ResourceExt) -> Vec<K> {
        let state = self.lock();
        let list = state.by_parent.get(&id(parent)).into_iter().flatten();
        list.filter(|e| e.counts()).filter_map(|e| serde_json::from_slice(&e.json).ok()).collect()
    }

    /// Makes the server have `desired`. Free of charge while the watch shows that it has; hand
    /// edits of any field in `desired` are put back.
    pub async fn apply_desired(&self, desired: &K) -> Result<K, Error> {
        let want = serde_json::to_value(desired)?;
        let key = self.key(desired).ok_or(Error::Missing("parent"))?;
        let id = id(desired);
        let known = {
            let state = self.lock();
            let json = state.find(&key, &id).map(|e| serde_json::from_slice(&e.json)).transpose()?;
            json.map(|json: Value| (json, state.rewritten.get(&id).copied()))
        };
        if let Some((have, rewritten)) = known {
            let prints = || Some((drift::fingerprint(&want), drift::fingerprint(&have)));
            if drift::covers(&have, &want) || rewritten.is_some() && rewritten == prints() {
                return Ok(serde_json::from_value(have)?);
            }
            tracing::info!(kind = %K::kind(&()), %id, "is not as desired, applying");
        }
        let namespace = desired.namespace();
        if K::Scope::NAMESPACED && namespace.is_none() {
            return Err(Error::Missing("namespace"));
        }
        let api: Api<K> = K::Scope::api(&self.client, namespace.as_deref());
        let params = PatchParams::apply(NAME).force();
        let mut after = api.patch(&desired.name_any(), &params, &Patch::Apply(&want)).await?;
        let entry = Entry::new(&mut after, Some(Instant::now()))?;
        let have: Value = serde_json::from_slice(&entry.json)?;
        let mut state = self.lock();
        if drift::covers(&have, &want) {
            state.rewritten.remove(&id);
        } else {
            state.rewritten.insert(id, (drift::fingerprint(&want), drift::fingerprint(&have)));
        }
        insert(state.by_parent.entry(key).or_default(), entry);
        Ok(after)
    }

    pub(in crate::runtime) fn synced(&self) -> tokio::sync::watch::Receiver<bool> {
        self.ready.subscribe()
    }

    pub(in crate::runtime) fn watch<P: Kind>(self: &Arc<Self>, api: Api<K>, labels: &str) -> Triggers<P> {
        let this = self.clone();
        let events = watch(api, watcher::Config::default().labels(labels));
        let parents = move |event| match event {
            Ok(event) => this.apply(event).into_iter().map(|key| Ok(request(&key))).collect(),
            Err(e) => vec![Err(e)],
        };
        events.flat_map(move |e| stream::iter(parents(e))).boxed()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("not poisoned")
    }

    /// Namespace and name of the parent.
    fn key(&self, obj: &K) -> Option<Box<str>> {
        let namespace = if self.in_namespace { obj.meta().namespace.as_deref()? } else { "" };
        Some(format!("{namespace}/{}", (self.parent)(obj)?).into())
    }

    /// Stores an event; returns the parents that are affected.
    fn apply(&self, event: Event<K>) -> Vec<Box<str>> {
        let mut state = self.lock();
        match event {
            Event::Init => state.next = Some((Instant::now(), ByParent::new())),
            Event::InitApply(mut obj) => {
                if let (Some(key), Ok(entry)) = (self.key(&obj), Entry::new(&mut obj, None))
                    && let Some((_, next)) = &mut state.next
                {
                    insert(next.entry(key).or_default(), entry);
                }
            }
            Event::InitDone => {
                let changed = state.relisted();
                self.ready.send_replace(true);
                return changed;
            }
            Event::Apply(mut obj) => {
                if let (Some(key), Ok(entry)) = (self.key(&obj), Entry::new(&mut obj, None))
                    && insert(state.by_parent.entry(key.clone()).or_default(), entry)
                {
                    return vec![key];
                }
            }
            Event::Delete(obj) => {
                if let Some(key) = self.key(&obj) {
                    state.remove(&key, &id(&obj), version(&obj));
                    return vec![key];
                }
            }
        }
        vec![]
    }
}

fn request<P: Kind>(key: &str) -> ReconcileRequest<Guarded<P>> {
    match key.split_once('/') {
        Some((namespace, name)) if !namespace.is_empty() => ObjectRef::new(name).within(namespace).into(),
        Some((_, name)) => ObjectRef::new(name).into(),
        None => ObjectRef::new(key).into(),
    }
}
