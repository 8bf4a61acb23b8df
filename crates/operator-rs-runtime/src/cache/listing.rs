//! Handles the end of a list of primaries: finds the objects that have changed since the last list. kube's store only
//! swaps its content.

use super::{PrimaryCache, Watchable, lock, primary::numeric_version, recent::ResourceVersion, state::ListedObject};
use kube::runtime::watcher::Event;
use std::{collections::HashMap, sync::Arc};

impl<K: Watchable> PrimaryCache<K> {
    /// Replaces the cached objects by the listed ones, and triggers a reconcile of those that have changed. Returns the
    /// keys of own writes that the list does not show.
    pub(super) fn finish_list(&self) -> Vec<Box<str>> {
        let mut state = lock(&self.state);
        let mut listed = std::mem::take(&mut state.listed);
        state.undecodable_before = HashMap::new();
        let later = state.recent.finish_list(|key| listed.get(key).map(|object| object.version));
        let before: HashMap<Box<str>, Arc<K>> =
            self.store.state().into_iter().map(|object| (super::key_of(&*object), object)).collect();
        // Later own writes are added to the list before it takes effect, so that no reader sees an older state.
        for object in later.iter().filter_map(|key| before.get(key)) {
            state.writer.apply_watcher_event(&Event::InitApply((**object).clone()));
        }
        state.writer.apply_watcher_event(&Event::InitDone);
        for (key, object) in listed.iter_mut().filter(|(key, _)| !later.contains(key)) {
            state.set_conditions(key, object.conditions.take());
        }
        let gone = before.keys().filter(|key| !listed.contains_key(*key) && !later.contains(key));
        let mut changed: Vec<Box<str>> = gone.cloned().collect();
        for key in &changed {
            self.filter.forget_object(key);
            state.conditions.remove(key);
        }
        let is_changed = |key: &str, version: ResourceVersion| {
            before.get(key).is_none_or(|before| numeric_version(&**before) != version)
        };
        let is_same =
            |key: &str, object: &ListedObject| before.get(key).is_some_and(|before| before.meta().uid == object.uid);
        let news = listed.iter().filter(|(key, object)| {
            !later.contains(key)
                && (self.filter.record_hash(key, object.hash) | !is_same(key, object))
                && is_changed(key, object.version)
        });
        changed.extend(news.map(|(key, _)| key.clone()));
        for key in before.keys().chain(listed.keys()) {
            let object = self.get(key);
            state.indexes.iter().for_each(|index| index.update(key, object.as_deref()));
        }
        drop(state);
        changed.iter().for_each(|key| (self.trigger)(key));
        later.into_iter().filter(|key| !listed.contains_key(key)).collect()
    }
}
