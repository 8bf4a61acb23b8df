//! Objects of one kind that are related to primary objects, as the watch shows them. kube's reflector knows no owners, and
//! takes an older state for a newer one if it comes later.

use super::{
    Observed, Owners, Watchable,
    desired::hash_secret_values,
    entry::{CacheEntries, CacheEntry},
    filter::Filter,
    mappers::Mapper,
    object_key,
    recent::RecentChanges,
};
use crate::labels::Labels;
use kube::{Client, ResourceExt, runtime::watcher::Event};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

/// From an object's key to the keys of the primaries that refer to it.
type Referrers = Box<dyn Fn(&str) -> Vec<Arc<str>> + Send + Sync>;

/// A function from an object to the primary objects to reconcile when it changes.
pub(crate) enum Link<C> {
    /// One of them is its controller.
    Owner(Mapper<C>, Owners),
    /// One of them is named in its annotations. The watch shows the objects of this namespace, or of all.
    Annotation(Mapper<C>, Option<String>),
    /// It belongs to them, as a mapper says.
    Mapper(Mapper<C>),
    /// They refer to it, by its key.
    References(Referrers),
}

/// Watched objects of one kind, behind the handles that a controller returns.
pub struct Children<C> {
    pub(super) client: Client,
    pub(super) field_manager: &'static str,
    /// The labels that an object needs so that the watch shows it.
    pub(super) labels: Labels,
    pub(super) link: Link<C>,
    filter: Filter<C>,
    trigger: Box<dyn Fn(&str) + Send + Sync>,
    pub(super) state: Mutex<ChildrenState>,
}

#[derive(Default)]
pub(super) struct ChildrenState {
    pub entries: CacheEntries,
    pub recent: RecentChanges,
    /// Filled during a list.
    next: Option<CacheEntries>,
    /// How many tasks are applying an object, by its key.
    pub applying: HashMap<Box<str>, usize>,
}

impl<C: Watchable> Children<C> {
    pub(crate) fn new(
        client: Client,
        field_manager: &'static str,
        labels: Labels,
        filter: Filter<C>,
        link: Link<C>,
        trigger: impl Fn(&str) + Send + Sync + 'static,
    ) -> Arc<Self> {
        let state = Mutex::default();
        Arc::new(Self { client, field_manager, labels, link, filter, trigger: Box::new(trigger), state })
    }

    /// The objects that belong to `parent`, sorted by name; without those that this process has deleted
    /// or that belong to an earlier object with the parent's name.
    pub fn objects_of_parent(&self, parent: &impl ResourceExt) -> Vec<C> {
        let state = super::lock(&self.state);
        let found = self.entries_of_parent(&state, parent).into_iter().filter(|(_, it)| !it.is_deleted);
        found.filter_map(|(_, it)| serde_json::from_str(&it.json).ok()).collect()
    }

    pub(super) fn entries_of_parent<'a>(&self, state: &'a ChildrenState, parent: &impl ResourceExt) -> Vec<(&'a Arc<str>, &'a CacheEntry)> {
        let mut found = state.entries.children_of(&super::key_of(parent));
        match (&self.link, &parent.meta().uid) {
            (Link::Owner(..), Some(uid)) => {
                found.retain(|(_, entry)| entry.controller.as_ref().is_some_and(|[_, _, of]| **of == **uid));
            }
            // Another object controls it, whatever its annotations say.
            (Link::Annotation(..), _) => found.retain(|(_, entry)| entry.controller.is_none()),
            _ => {}
        }
        found
    }

    /// Whether primaries own these objects, so that what is not desired any more may go.
    pub(super) fn are_owned(&self) -> bool {
        matches!(self.link, Link::Owner(..) | Link::Annotation(..))
    }

    /// An object by its name, and its namespace if it has one.
    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<C> {
        let state = super::lock(&self.state);
        serde_json::from_str(&state.entries.get(&object_key(namespace, name))?.json).ok()
    }

    /// Stores an event, and triggers the primaries that it is about. Returns the keys of own writes
    /// that a list does not show.
    pub(crate) fn handle_event(&self, event: Event<Observed<C>>) -> Vec<Box<str>> {
        match event {
            Event::Init => {
                let mut state = super::lock(&self.state);
                state.recent.begin_list();
                state.next = Some(CacheEntries::default());
            }
            Event::InitApply(object) => {
                let entry = self.build_entry(&object);
                if let Some(next) = &mut super::lock(&self.state).next {
                    next.insert(&object.object_key(), entry);
                }
            }
            Event::InitDone => return self.finish_list(),
            Event::Apply(object) => {
                let (key, entry) = (object.object_key(), self.build_entry(&object));
                let mut state = super::lock(&self.state);
                let current = state.entries.get(&key);
                let is_news = entry.predicate_hash.is_none() || current.is_none_or(|it| it.predicate_hash != entry.predicate_hash);
                let current = current.map(|it| it.version);
                if state.recent.record_event(&key, entry.version, current) {
                    let parents = state.entries.insert(&key, entry);
                    drop(state);
                    if is_news {
                        self.trigger_parents(&key, parents);
                    }
                }
            }
            Event::Delete(object) => self.record_deletion(&object.object_key(), object.numeric_version()),
        }
        vec![]
    }

    /// An object is gone.
    pub(crate) fn record_deletion(&self, key: &str, version: Option<u64>) {
        let mut state = super::lock(&self.state);
        let current = state.entries.get(key).map(|it| it.version);
        if state.recent.record_deletion(key, version, current) {
            let parents = state.entries.remove(key).map_or(vec![], |it| it.parents.to_vec());
            drop(state);
            self.trigger_parents(key, parents);
        }
    }

    /// Puts what was listed in place of what was known.
    fn finish_list(&self) -> Vec<Box<str>> {
        let mut state = super::lock(&self.state);
        let Some(next) = state.next.take() else { return vec![] };
        let later = state.recent.finish_list(|key| next.get(key).map(|it| it.version));
        let unseen = later.iter().filter(|key| next.get(key).is_none()).cloned().collect();
        let mut old = std::mem::replace(&mut state.entries, next);
        for key in &later {
            if let Some(entry) = old.remove(key) {
                state.entries.insert(key, entry);
            }
        }
        let mut changed: Vec<(Arc<str>, Vec<Arc<str>>)> = vec![];
        let keys: Vec<_> = state.entries.keys().filter(|it| !later.iter().any(|key| **key == ***it)).cloned().collect();
        for key in keys {
            let (Some(entry), before) = (state.entries.get_mut(&key), old.remove(&key)) else {
                continue;
            };
            let mut parents = entry.parents.to_vec();
            if let Some(before) = before {
                entry.inherit_from(&before);
                if before.version == entry.version {
                    continue;
                }
                parents.extend(before.parents.iter().cloned());
            }
            changed.push((key, parents));
        }
        for (key, entry) in old.into_entries() {
            changed.push((key, entry.parents.to_vec()));
        }
        drop(state);
        changed.into_iter().for_each(|(key, parents)| self.trigger_parents(&key, parents));
        unseen
    }

    pub(super) fn build_entry(&self, object: &Observed<C>) -> CacheEntry {
        let parents = match &self.link {
            Link::Owner(mapper, _) | Link::Annotation(mapper, _) | Link::Mapper(mapper) => mapper(object),
            Link::References(_) => vec![],
        };
        let values = hash_secret_values::<C>(&object.json);
        CacheEntry { values, ..CacheEntry::new(object, self.field_manager, self.filter.hash_observed(object), parents) }
    }

    pub(super) fn trigger_parents(&self, key: &str, mut parents: Vec<Arc<str>>) {
        if let Link::References(of) = &self.link {
            parents = of(key);
        }
        parents.iter().for_each(|it| (self.trigger)(it));
    }
}
