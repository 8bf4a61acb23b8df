//! The objects that are reconciled, and the way to write their status.

use super::{Kind, Triggers, is_newer, version, watch};
use crate::runtime::{Error, NAME, guard::Guarded, scope::Scope};
use futures::StreamExt;
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        controller::ReconcileRequest,
        reflector::{ObjectRef, Store, store::Writer},
        watcher::{self, Event},
    },
};
use serde_json::json;
use std::{
    future::ready,
    sync::{Arc, Mutex},
};

pub struct Primary<K: Kind> {
    client: Client,
    pub(in crate::runtime) store: Store<Guarded<K>>,
    writer: Mutex<Writer<Guarded<K>>>,
}

impl<K: Kind> Primary<K> {
    pub fn new(client: Client) -> Arc<Self> {
        let writer = Writer::default();
        Arc::new(Self { client, store: writer.as_reader(), writer: Mutex::new(writer) })
    }

    /// Writes the status if it differs from what is there. Returns whether it did.
    pub async fn set_status(&self, obj: &K, status: K::Status) -> Result<bool, Error> {
        if obj.status() == Some(&status) {
            return Ok(false);
        }
        let api: Api<Guarded<K>> = K::Scope::api(&self.client, obj.namespace().as_deref());
        let patch = json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "status": status });
        let params = PatchParams::apply(NAME).force();
        let after = api.patch_status(&obj.name_any(), &params, &Patch::Apply(patch)).await?;
        self.wrote(obj, after);
        Ok(true)
    }

    pub(in crate::runtime) fn watch(self: &Arc<Self>, api: Api<Guarded<K>>) -> Triggers<K> {
        let this = self.clone();
        let events = watch(api, watcher::Config::default());
        events.filter_map(move |e| ready(e.map(|e| this.apply(&e)).transpose())).boxed()
    }

    /// Stores an event; asks for a reconcile unless it only echoes an own write.
    fn apply(&self, event: &Event<Guarded<K>>) -> Option<ReconcileRequest<Guarded<K>>> {
        let trigger = match event {
            Event::Apply(obj) | Event::InitApply(obj) => {
                let key = ObjectRef::from_obj(obj);
                let news = self.store.get(&key).is_none_or(|old| is_newer(version(obj), version(&*old)));
                if !news && matches!(event, Event::Apply(_)) {
                    return None;
                }
                news.then(|| key.into())
            }
            _ => None,
        };
        self.writer.lock().expect("not poisoned").apply_watcher_event(event);
        trigger
    }

    /// Remembers what an own write returned, unless `before` has been changed by somebody else
    /// since: then the watch has to deliver that change.
    fn wrote(&self, before: &K, after: Guarded<K>) {
        let (a, b) = (before.meta(), after.meta());
        let same = a.uid == b.uid
            && a.generation == b.generation
            && a.labels == b.labels
            && a.annotations == b.annotations
            && a.finalizers == b.finalizers
            && a.deletion_timestamp == b.deletion_timestamp;
        let known = self.store.get(&ObjectRef::from_obj(&after));
        if same && known.is_some_and(|old| is_newer(version(&after), version(&*old))) {
            self.writer.lock().expect("not poisoned").apply_watcher_event(&Event::Apply(after));
        }
    }
}
