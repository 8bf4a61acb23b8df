//! The state of a cache of primaries, which is under one lock: kube's store, the recent changes and the indexes.

use super::{
    Observed, References, Watchable,
    conditions::Conditions,
    recent::{RecentChanges, ResourceVersion},
};
use kube::runtime::{reflector::store::Writer, watcher::Event};
use std::{collections::HashMap, sync::Arc};

pub(super) struct PrimaryState<K: Watchable> {
    pub writer: Writer<K>,
    pub recent: RecentChanges,
    pub indexes: Vec<Arc<References<K>>>,
    /// The owners of conditions, for the objects whose conditions this operator does not own alone.
    pub conditions: HashMap<Box<str>, Conditions>,
    /// The versions of objects that cannot be decoded.
    pub undecodable: HashMap<Box<str>, ResourceVersion>,
    /// The value of `undecodable` before the list that has begun.
    pub undecodable_before: HashMap<Box<str>, ResourceVersion>,
    /// The objects that the current list has shown so far.
    pub listed: HashMap<Box<str>, ListedObject>,
}

pub(super) struct ListedObject {
    pub version: ResourceVersion,
    pub uid: Option<String>,
    /// A hash of the parts that the predicate looks at.
    pub hash: Option<u64>,
    pub conditions: Option<Conditions>,
}

impl<K: Watchable> PrimaryState<K> {
    pub fn store_object(&mut self, key: &str, object: K) {
        self.indexes.iter().for_each(|index| index.update(key, Some(&object)));
        self.undecodable.remove(key);
        self.writer.apply_watcher_event(&Event::Apply(object));
    }

    pub fn remove_object(&mut self, key: &str, current: Option<Arc<K>>) {
        self.indexes.iter().for_each(|index| index.update(key, None));
        self.conditions.remove(key);
        if let Some(current) = current {
            self.writer.apply_watcher_event(&Event::Delete((*current).clone()));
        }
    }

    pub fn update_conditions(&mut self, key: &str, observed: &Observed<K>, field_manager: &str) {
        self.set_conditions(key, Conditions::from_observed(observed, field_manager));
    }

    pub fn set_conditions(&mut self, key: &str, conditions: Option<Conditions>) {
        match conditions {
            Some(conditions) => drop(self.conditions.insert(key.into(), conditions)),
            None => drop(self.conditions.remove(key)),
        }
    }
}
