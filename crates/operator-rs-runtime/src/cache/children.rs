//! The cache of the objects of one kind that are related to primary objects: their children. kube's reflector has no
//! index by owners, and replaces a newer state by an older one that arrives later.

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

/// A function from an object's key to the keys of the primaries that refer to it.
type Referrers = Box<dyn Fn(&str) -> Vec<Arc<str>> + Send + Sync>;

/// The relation of an object to its parents, the primary objects to reconcile when it changes.
pub(crate) enum Link<C> {
    /// The parent is the object's controller.
    Owner(Mapper<C>, Owners),
    /// The object's annotations name the parent. The watch shows the objects of this namespace, or of all if it is
    /// `None`.
    Annotation(Mapper<C>, Option<String>),
    /// A mapper of the user returns the parents.
    Mapper(Mapper<C>),
    /// The parents refer to the object.
    References(Referrers),
}

/// Watched objects of one kind, behind the handles that a controller returns.
pub struct Children<C> {
    pub(super) client: Client,
    pub(super) field_manager: &'static str,
    /// The labels that the watch selects by.
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
    /// The entries of the list that has begun. They replace `entries` when it ends.
    next: Option<CacheEntries>,
    /// The owner's uid of each task that is applying an object, by the object's key.
    pub applying: HashMap<Box<str>, Vec<Box<str>>>,
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

    /// Returns the objects that belong to `parent`, sorted by name, except for those that this process has deleted or
    /// that belong to an earlier object with the parent's name.
    pub fn objects_of_parent(&self, parent: &impl ResourceExt) -> Vec<C> {
        let state = super::lock(&self.state);
        let entries = self.entries_of_parent(&state, parent).into_iter().filter(|(_, entry)| !entry.is_deleted);
        entries.filter_map(|(_, entry)| serde_json::from_str(&entry.json).ok()).collect()
    }

    pub(super) fn entries_of_parent<'a>(
        &self,
        state: &'a ChildrenState,
        parent: &impl ResourceExt,
    ) -> Vec<(&'a Arc<str>, &'a CacheEntry)> {
        let mut children = state.entries.children_of(&super::key_of(parent));
        match (&self.link, &parent.meta().uid) {
            (Link::Owner(..), Some(uid)) => {
                let is_controller = |[_, _, controller]: &[Box<str>; 3]| **controller == **uid;
                children.retain(|(_, entry)| entry.controller.as_ref().is_some_and(is_controller));
            }
            // An object with a controller belongs to that one, whatever its annotations say.
            (Link::Annotation(..), _) => children.retain(|(_, entry)| entry.controller.is_none()),
            _ => {}
        }
        children
    }

    /// Returns whether primaries own these objects, so that those that are no longer desired may be deleted.
    pub(super) fn are_owned(&self) -> bool {
        matches!(self.link, Link::Owner(..) | Link::Annotation(..))
    }

    /// Returns an object by its name, and by its namespace if it has one.
    pub fn get(&self, namespace: Option<&str>, name: &str) -> Option<C> {
        let state = super::lock(&self.state);
        serde_json::from_str(&state.entries.get(&object_key(namespace, name))?.json).ok()
    }

    /// Stores the object of an event, and triggers a reconcile of its parents. At the end of a list, returns the keys
    /// of own writes that the list does not show.
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
                let is_news = entry.predicate_hash.is_none()
                    || current.is_none_or(|current| current.predicate_hash != entry.predicate_hash);
                let current = current.map(|current| current.version);
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

    /// Removes an object that no longer exists, and triggers a reconcile of its parents. `version` is the last known
    /// version of the object.
    pub(crate) fn record_deletion(&self, key: &str, version: Option<u64>) {
        let mut state = super::lock(&self.state);
        let current = state.entries.get(key).map(|entry| entry.version);
        if state.recent.record_deletion(key, version, current) {
            let parents = state.entries.remove(key).map_or(vec![], |entry| entry.parents.to_vec());
            drop(state);
            self.trigger_parents(key, parents);
        }
    }

    /// Replaces the cached objects by the listed ones, and triggers a reconcile of the parents of those that have
    /// changed. Returns the keys of own writes that the list does not show.
    fn finish_list(&self) -> Vec<Box<str>> {
        let mut state = super::lock(&self.state);
        let Some(next) = state.next.take() else { return vec![] };
        let later = state.recent.finish_list(|key| next.get(key).map(|entry| entry.version));
        let unseen = later.iter().filter(|key| next.get(key).is_none()).cloned().collect();
        let mut old = std::mem::replace(&mut state.entries, next);
        for key in &later {
            if let Some(entry) = old.remove(key) {
                state.entries.insert(key, entry);
            }
        }
        let mut changed: Vec<(Arc<str>, Vec<Arc<str>>)> = vec![];
        let is_later = |key: &&Arc<str>| later.iter().any(|later| **later == ***key);
        let keys: Vec<_> = state.entries.keys().filter(|key| !is_later(key)).cloned().collect();
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
        if let Link::References(referrers) = &self.link {
            parents = referrers(key);
        }
        parents.iter().for_each(|parent| (self.trigger)(parent));
    }
}
