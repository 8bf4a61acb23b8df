//! One cached child, and all of them by their parents. kube's `Store` has no index, and keeps
//! objects decoded, which takes four times the memory.

use super::{observed::Observed, owner::OwnerAnnotations, ownership, prune::Moment, recent::ResourceVersion};
use serde::Deserialize;
use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

/// A child as it was seen last, and what is known of who has applied what to it.
pub struct CacheEntry {
    pub version: ResourceVersion,
    pub uid: Option<Box<str>>,
    pub json: Arc<str>,
    /// The text of `managedFields`, until it has been looked at.
    pub managed: Arc<str>,
    /// The hash of our set in it.
    pub owned_fields: Option<u64>,
    /// The hash of the desired object that the server is known to have completely.
    pub proven: Option<u64>,
    /// The hash of the values that are in no hash of what is desired; nothing where they are not known.
    pub values: Option<u64>,
    /// Kind, name and uid of its controller.
    pub controller: Option<[Box<str>; 3]>,
    /// The owner that its annotations name.
    pub annotated_owner: Option<Box<OwnerAnnotations>>,
    /// Whether it is being deleted.
    pub is_terminating: bool,
    /// Whether this process has deleted it, which the watch has not shown yet.
    pub is_deleted: bool,
    /// When this process has applied it last.
    pub applied_at: Moment,
    /// The hashes of what other managers are known to have in it, completely.
    pub shared: Vec<u64>,
    /// A hash of the parts that the predicate looks at, own writes included.
    pub predicate_hash: Option<u64>,
    /// The keys of the primaries that it belongs to.
    pub parents: Box<[Arc<str>]>,
}

/// A hash that is valid in this process only.
pub fn fast_hash(text: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}

impl CacheEntry {
    pub fn new<K>(object: &Observed<K>, field_manager: &str, predicate_hash: Option<u64>, parents: Vec<Arc<str>>) -> Self {
        let controller = object.controller_reference().map(|it| [&*it.kind, &*it.name, &*it.uid].map(Into::into));
        let owned_fields = ownership::applied_fields(&object.managed, field_manager, "").map(fast_hash);
        Self {
            version: object.numeric_version(),
            uid: object.metadata.uid.as_deref().map(Into::into),
            json: object.json.clone(),
            // For an object that we have never applied it proves nothing, and it is half of a pod's metadata.
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

    /// Everything of `desired` is known to be there: what proved it is not needed any more.
    pub fn mark_proven(&mut self, desired: u64) {
        self.proven = Some(desired);
        self.managed = Arc::default();
    }

    /// A proof for an older state holds as long as our set is the same, and nobody has applied
    /// other values as us: an own write whose answer was lost, or another process of this operator.
    /// An object that is being deleted stays so.
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

    /// The hash of what was applied last, as the object itself says.
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
        object.metadata.annotations?.get(ownership::DESIRED_HASH)?.as_str().map(str::to_owned)
    }
}

/// Entries by their keys, and by their parents.
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

    /// The children of a parent, by their names.
    pub fn children_of(&self, parent: &str) -> Vec<(&Arc<str>, &CacheEntry)> {
        let keys = self.by_parent.get(parent).into_iter().flatten();
        let mut res: Vec<_> = keys.filter_map(|key| self.by_key.get_key_value(key)).collect();
        res.sort_by_key(|(key, _)| *key);
        res
    }

    /// Puts an entry in place of an older one; returns the parents of both.
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
            for parent in old.parents.iter().filter(|it| !entry.parents.contains(it)) {
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

    /// Removes an entry, and returns it.
    pub fn remove(&mut self, key: &str) -> Option<CacheEntry> {
        let (key, old) = self.by_key.remove_entry(key)?;
        old.parents.iter().for_each(|parent| self.unlink_parent(parent, &key));
        Some(old)
    }

    /// All that is left.
    pub fn into_entries(self) -> impl Iterator<Item = (Arc<str>, CacheEntry)> {
        self.by_key.into_iter()
    }

    fn unlink_parent(&mut self, parent: &Arc<str>, key: &Arc<str>) {
        if let Some(list) = self.by_parent.get_mut(parent) {
            list.retain(|it| it != key);
            if list.is_empty() {
                self.by_parent.remove(parent);
            }
        }
    }
}
