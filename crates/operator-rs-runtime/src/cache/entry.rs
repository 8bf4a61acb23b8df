//! The entries of a cache of children, with an index by their parents. kube's `Store` has no index, and keeps objects
//! decoded, which takes four times the memory.

use super::{observed::Observed, owner::OwnerAnnotations, ownership, prune::Moment, recent::ResourceVersion};
use crate::hash::DESIRED_HASH;
use serde::Deserialize;
use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

/// The last known state of a child, and what is known about the fields that were applied to it.
pub struct CacheEntry {
    pub version: ResourceVersion,
    pub uid: Option<Box<str>>,
    pub json: Arc<str>,
    /// The text of `managedFields`. It is empty once a proof has made it unnecessary.
    pub managed: Arc<str>,
    /// The hash of the fields in `managedFields` that this operator owns.
    pub owned_fields: Option<u64>,
    /// The hash of the desired object, if it is proven that the server has all of it.
    pub proven: Option<u64>,
    /// The hash of the values of a Secret, which the hash of the desired object leaves out, or `None` if they are
    /// unknown.
    pub values: Option<u64>,
    /// Kind, name and uid of the object's controller.
    pub controller: Option<[Box<str>; 3]>,
    /// The owner that the object's annotations name.
    pub annotated_owner: Option<Box<OwnerAnnotations>>,
    /// The object has a deletion timestamp.
    pub is_terminating: bool,
    /// This process has deleted the object, and the watch has not shown that yet.
    pub is_deleted: bool,
    /// The time at which this process last applied the object.
    pub applied_at: Moment,
    /// The hashes of the fields that a [`FieldManager`](super::FieldManager) has applied, and that the object still
    /// has.
    pub shared: Vec<u64>,
    /// A hash of the parts that the predicate looks at. Own writes update it, too.
    pub predicate_hash: Option<u64>,
    /// The keys of the primaries that the object belongs to.
    pub parents: Box<[Arc<str>]>,
}

/// Returns a hash that is valid only in this process.
pub fn fast_hash(text: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}

impl CacheEntry {
    pub fn new<K>(
        object: &Observed<K>,
        field_manager: &str,
        predicate_hash: Option<u64>,
        parents: Vec<Arc<str>>,
    ) -> Self {
        let controller = object.controller_reference();
        let controller = controller.map(|owner| [&*owner.kind, &*owner.name, &*owner.uid].map(Into::into));
        let owned_fields = ownership::applied_fields(&object.managed, field_manager, "").map(fast_hash);
        Self {
            version: object.numeric_version(),
            uid: object.metadata.uid.as_deref().map(Into::into),
            json: object.json.clone(),
            // If this operator has never applied the object, `managedFields` proves nothing. It is half of the metadata
            // of a pod, so it is left out to save memory.
            managed: if owned_fields.is_some() { object.managed.clone() } else { Arc::default() },
            owned_fields,
            proven: None,
            values: None,
            controller,
            annotated_owner: object.annotated_owner.clone(),
            is_terminating: object.metadata.deletion_timestamp.is_some(),
            is_deleted: false,
            applied_at: 0,
            shared: vec![],
            predicate_hash,
            parents: parents.into(),
        }
    }

    /// Remembers that the server has all of the object with the hash `desired`, and drops the `managedFields` that
    /// proved it.
    pub fn mark_proven(&mut self, desired: u64) {
        self.proven = Some(desired);
        self.managed = Arc::default();
    }

    /// Takes over what is known from an older state of the same object. A proof stays valid as long as this operator
    /// owns the same fields and their values have not changed. They can change under our field manager by an own write
    /// whose response was lost, or by another process of this operator. An object that this process has deleted stays
    /// deleted.
    pub fn inherit_from(&mut self, old: &Self) {
        self.applied_at = self.applied_at.max(old.applied_at);
        if self.uid != old.uid {
            return;
        }
        self.is_deleted |= old.is_deleted;
        let is_same = self.version.is_some() && self.version == old.version;
        if self.proven.is_none()
            && self.owned_fields.is_some()
            && self.owned_fields == old.owned_fields
            && let Some(proven) = old.proven
            && (is_same || self.values.is_some() && self.values == old.values)
            && self.desired_hash() == old.desired_hash()
        {
            self.mark_proven(proven);
        }
    }

    /// Returns the hash of the object that was applied last, which the object has in an annotation.
    pub fn desired_hash(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            annotations: Option<HashMap<String, serde_json::Value>>,
        }
        let object: Object = serde_json::from_str(&self.json).ok()?;
        object.metadata.annotations?.get(DESIRED_HASH)?.as_str().map(str::to_owned)
    }
}

/// The entries of a cache, with an index by their parents.
#[derive(Default)]
pub struct CacheEntries {
    by_key: HashMap<Arc<str>, CacheEntry>,
    by_parent: HashMap<Arc<str>, Vec<Arc<str>>>,
}

impl CacheEntries {
    pub fn get(&self, key: &str) -> Option<&CacheEntry> {
        self.by_key.get(key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut CacheEntry> {
        self.by_key.get_mut(key)
    }

    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_key.keys()
    }

    /// Returns the children of a parent, sorted by key.
    pub fn children_of(&self, parent: &str) -> Vec<(&Arc<str>, &CacheEntry)> {
        let keys = self.by_parent.get(parent).into_iter().flatten();
        let mut children: Vec<_> = keys.filter_map(|key| self.by_key.get_key_value(key)).collect();
        children.sort_by_key(|(key, _)| *key);
        children
    }

    /// Inserts an entry, or replaces an older one. Returns the parents of both.
    pub fn insert(&mut self, key: &str, mut entry: CacheEntry) -> Vec<Arc<str>> {
        let (key, old) = match self.by_key.remove_entry(key) {
            Some((key, old)) => (key, Some(old)),
            None => (Arc::from(key), None),
        };
        if let Some(old) = &old {
            entry.inherit_from(old);
        }
        let mut affected = entry.parents.to_vec();
        if let Some(old) = old {
            for parent in old.parents.iter().filter(|parent| !entry.parents.contains(parent)) {
                self.unlink_parent(parent, &key);
                affected.push(parent.clone());
            }
        }
        for parent in &entry.parents {
            let list = self.by_parent.entry(parent.clone()).or_default();
            if !list.contains(&key) {
                list.reserve_exact(1);
                list.push(key.clone());
            }
        }
        self.by_key.insert(key, entry);
        affected
    }

    pub fn remove(&mut self, key: &str) -> Option<CacheEntry> {
        let (key, old) = self.by_key.remove_entry(key)?;
        old.parents.iter().for_each(|parent| self.unlink_parent(parent, &key));
        Some(old)
    }

    pub fn into_entries(self) -> impl Iterator<Item = (Arc<str>, CacheEntry)> {
        self.by_key.into_iter()
    }

    fn unlink_parent(&mut self, parent: &Arc<str>, key: &Arc<str>) {
        if let Some(list) = self.by_parent.get_mut(parent) {
            list.retain(|child| child != key);
            if list.is_empty() {
                self.by_parent.remove(parent);
            }
        }
    }
}
