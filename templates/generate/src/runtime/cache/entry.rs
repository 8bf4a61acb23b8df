//! One cached object, and the lists of them by parent.

use super::{
    is_newer,
    packed::{Packed, Packer},
    version,
};
use crate::runtime::text::Text;
use kube::Resource;
use std::{
    collections::{BTreeSet, HashMap},
    time::{Duration, Instant},
};

/// How long an own write counts although no watch has confirmed it.
const UNCONFIRMED: Duration = Duration::from_secs(30);

/// An object, as text that is packed.
pub(super) struct Entry {
    /// Namespace and name.
    pub id: Box<str>,
    pub version: Option<u64>,
    pub packed: Packed,
    /// When this process wrote it, until a watch confirms that.
    pub written: Option<Instant>,
}

impl Entry {
    pub fn counts(&self) -> bool {
        self.written.is_none_or(|at| at.elapsed() < UNCONFIRMED)
    }
}

pub(super) fn id(obj: &impl Resource) -> Box<str> {
    let meta = obj.meta();
    let (namespace, name) = (meta.namespace.as_deref(), meta.name.as_deref());
    format!("{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default()).into()
}

pub(super) type ByParent = HashMap<Box<str>, Vec<Entry>>;

#[derive(Default)]
pub(super) struct State {
    pub by_parent: ByParent,
    /// Filled during a (re)list, with when that began.
    pub next: Option<(Instant, ByParent)>,
    /// What was desired and what came of it, for objects that the server (or a webhook) rewrites:
    /// applying them again would not help.
    pub rewritten: HashMap<Box<str>, (u64, u64)>,
    packer: Packer,
}

impl State {
    pub fn entry<K: Resource<DynamicType = ()>>(&mut self, text: &Text<K>, written: Option<Instant>) -> Entry {
        Entry { id: id(text), version: version(text), packed: self.packer.pack(&text.json), written }
    }

    pub fn find(&self, parent: &str, id: &str) -> Option<&Entry> {
        self.by_parent.get(parent)?.iter().find(|e| *e.id == *id && e.counts())
    }

    pub fn remove(&mut self, parent: &str, id: &str, version: Option<u64>) {
        self.rewritten.remove(id);
        if let Some(list) = self.by_parent.get_mut(parent) {
            list.retain(|e| *e.id != *id || !is_newer(version, e.version));
            if list.is_empty() {
                self.by_parent.remove(parent);
            }
        }
    }

    /// Puts what a list has returned in place of what was known before; returns the parents of what
    /// has changed.
    pub fn relisted(&mut self) -> Vec<Box<str>> {
        let Some((began, next)) = self.next.take() else { return vec![] };
        let old = std::mem::replace(&mut self.by_parent, next);
        let versions = |list: &[Entry]| list.iter().map(|e| (e.id.clone(), e.version)).collect::<BTreeSet<_>>();
        let news = |(key, list): &(_, &Vec<Entry>)| old.get(*key).is_none_or(|o| versions(o) != versions(list));
        let new = self.by_parent.iter().filter(news).map(|(key, _)| key.clone());
        let gone = old.keys().filter(|key| !self.by_parent.contains_key(*key)).cloned();
        let changed = new.chain(gone).collect();
        for (key, list) in old {
            // The list may be older than what was written meanwhile.
            for entry in list.into_iter().filter(|e| e.written.is_some_and(|at| at >= began)) {
                insert(self.by_parent.entry(key.clone()).or_default(), entry);
            }
        }
        changed
    }
}

/// Inserts `entry` unless a newer state of it is there. Returns whether it was news.
pub(super) fn insert(list: &mut Vec<Entry>, entry: Entry) -> bool {
    let Some(old) = list.iter_mut().find(|e| e.id == entry.id) else {
        list.reserve_exact(1);
        list.push(entry);
        return true;
    };
    if old.version == entry.version && entry.written.is_none() {
        old.written = None; // the watch confirms an own write
    }
    let news = is_newer(entry.version, old.version);
    if news {
        *old = entry;
    }
    news
}
