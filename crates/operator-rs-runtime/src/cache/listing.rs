//! The end of a list of primaries: what has changed between two lists. kube's store only swaps its content.

use super::{PrimaryCache, Watchable, lock, primary::version, recent::Version, state::Listed};
use kube::runtime::watcher::Event;
use std::{collections::HashMap, sync::Arc};

impl<K: Watchable> PrimaryCache<K> {
    /// Puts what was listed in place of what was known.
    pub(super) fn list_ends(&self) -> Vec<Box<str>> {
        let mut state = lock(&self.state);
        let mut listed = std::mem::take(&mut state.listed);
        state.undecodable_before = HashMap::new();
        let later = state.recent.list_ends(|key| listed.get(key).map(|it| it.version));
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
            self.filter.forget(key);
            state.conditions.remove(key);
        }
        let is_changed = |key: &str, at: Version| before.get(key).is_none_or(|it| version(&**it) != at);
        let is_same = |key: &str, it: &Listed| before.get(key).is_some_and(|before| before.meta().uid == it.uid);
        let news = listed.iter().filter(|(key, it)| {
            !later.contains(key) && (self.filter.note(key, it.hash) | !is_same(key, it)) && is_changed(key, it.version)
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
