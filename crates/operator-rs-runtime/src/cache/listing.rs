//! The end of a list of primaries: what has changed between two lists. kube's store only swaps its content.

use super::{PrimaryCache, Watchable, lock, primary::numeric_version, recent::ResourceVersion, state::ListedObject};
use kube::runtime::watcher::Event;
use std::{collections::HashMap, sync::Arc};

impl<K: Watchable> PrimaryCache<K> {
    /// Puts what was listed in place of what was known.
    pub(super) fn finish_list(&self) -> Vec<Box<str>> {
        let mut state = lock(&self.state);
        let mut listed = std::mem::take(&mut state.listed);
        state.undecodable_before = HashMap::new();
        let later = state.recent.finish_list(|key| listed.get(key).map(|it| it.version));
        let before: HashMap<Box<str>, Arc<K>> =
            self.store.state().into_iter().map(|it| (super::key_of(&*it), it)).collect();
        // Before the list takes effect: no reader ever sees an older state.
        for object in later.iter().filter_map(|key| before.get(key)) {
            state.writer.apply_watcher_event(&Event::InitApply((**object).clone()));
        }
        state.writer.apply_watcher_event(&Event::InitDone);
        for (key, it) in listed.iter_mut().filter(|(key, _)| !later.contains(key)) {
            state.set_conditions(key, it.conditions.take());
        }
        let gone = before.keys().filter(|key| !listed.contains_key(*key) && !later.contains(key));
        let mut changed: Vec<Box<str>> = gone.cloned().collect();
        for key in &changed {
            self.filter.forget_object(key);
            state.conditions.remove(key);
        }
        let is_changed = |key: &str, at: ResourceVersion| before.get(key).is_none_or(|it| numeric_version(&**it) != at);
        let is_same = |key: &str, it: &ListedObject| before.get(key).is_some_and(|before| before.meta().uid == it.uid);
        let news = listed.iter().filter(|(key, it)| {
            !later.contains(key) && (self.filter.record_hash(key, it.hash) | !is_same(key, it)) && is_changed(key, it.version)
        });
        changed.extend(news.map(|(key, _)| key.clone()));
        for key in before.keys().chain(listed.keys()) {
            let object = self.get(key);
            state.indexes.iter().for_each(|it| it.update(key, object.as_deref()));
        }
        drop(state);
        changed.iter().for_each(|key| (self.trigger)(key));
        later.into_iter().filter(|key| !listed.contains_key(key)).collect()
    }
}
