//! Objects that belong to a reconciled one: read from the watch, written only where they differ.

use super::{
    Kind, Triggers, Watched,
    entry::{ByParent, State, id, insert},
    version, watch,
};
use crate::runtime::{Error, NAME, drift, guard::Guarded, scope::Scope, text::Text};
use futures::{StreamExt, stream};
use kube::{
    Api, Client, Resource, ResourceExt,
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

type Parent<K> = Box<dyn Fn(&Text<K>) -> Option<String> + Send + Sync>;

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
    pub fn new<P: Kind>(
        client: Client,
        parent: impl Fn(&Text<K>) -> Option<String> + Send + Sync + 'static,
    ) -> Arc<Self> {
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
        list.filter(|e| e.counts()).filter_map(|e| serde_json::from_str(&e.packed.text()).ok()).collect()
    }

    /// Makes the server have `desired`. Free of charge while the watch shows that it has; hand
    /// edits of any field in `desired` are put back.
    pub async fn apply_desired(&self, desired: &K) -> Result<K, Error> {
        let text = Text::new(desired)?;
        let want = drift::wanted(&text.json)?;
        let key = self.key(&text).ok_or(Error::Missing("parent"))?;
        let id = id(desired);
        let known = {
            let state = self.lock();
            state.find(&key, &id).map(|e| (e.packed.text(), state.rewritten.get(&id).copied()))
        };
        if let Some((json, rewritten)) = known {
            let have: Value = serde_json::from_str(&json)?;
            let prints = || Some((drift::fingerprint(&want), drift::fingerprint(&have)));
            if drift::covers(&have, &want) || rewritten.is_some() && rewritten == prints() {
                return Ok(serde_json::from_str(&json)?);
            }
            tracing::info!(kind = %K::kind(&()), %id, "is not as desired, applying");
        }
        let namespace = desired.namespace();
        if K::Scope::NAMESPACED && namespace.is_none() {
            return Err(Error::Missing("namespace"));
        }
        let api: Api<Text<K>> = K::Scope::api(&self.client, namespace.as_deref());
        let params = PatchParams::apply(NAME).force();
        let after = api.patch(&desired.name_any(), &params, &Patch::Apply(desired)).await?;
        let (have, obj) = (serde_json::from_str(&after.json)?, after.decoded()?);
        let mut state = self.lock();
        if drift::covers(&have, &want) {
            state.rewritten.remove(&id);
        } else {
            state.rewritten.insert(id, (drift::fingerprint(&want), drift::fingerprint(&have)));
        }
        let entry = state.entry(&after, Some(Instant::now()));
        insert(state.by_parent.entry(key).or_default(), entry);
        Ok(obj)
    }

    pub(in crate::runtime) fn synced(&self) -> tokio::sync::watch::Receiver<bool> {
        self.ready.subscribe()
    }

    pub(in crate::runtime) fn watch<P: Kind>(self: &Arc<Self>, api: Api<Text<K>>, labels: &str) -> Triggers<P> {
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
    fn key(&self, obj: &Text<K>) -> Option<Box<str>> {
        let namespace = if self.in_namespace { obj.meta().namespace.as_deref()? } else { "" };
        Some(format!("{namespace}/{}", (self.parent)(obj)?).into())
    }

    /// Stores an event; returns the parents that are affected.
    fn apply(&self, event: Event<Text<K>>) -> Vec<Box<str>> {
        let mut state = self.lock();
        match event {
            Event::Init => state.next = Some((Instant::now(), ByParent::new())),
            Event::InitApply(text) => {
                if let Some(key) = self.key(&text) {
                    let entry = state.entry(&text, None);
                    if let Some((_, next)) = &mut state.next {
                        insert(next.entry(key).or_default(), entry);
                    }
                }
            }
            Event::InitDone => {
                let changed = state.relisted();
                self.ready.send_replace(true);
                return changed;
            }
            Event::Apply(text) => {
                if let Some(key) = self.key(&text) {
                    let entry = state.entry(&text, None);
                    if insert(state.by_parent.entry(key.clone()).or_default(), entry) {
                        return vec![key];
                    }
                }
            }
            Event::Delete(text) => {
                if let Some(key) = self.key(&text) {
                    state.remove(&key, &id(&text), version(&text));
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
