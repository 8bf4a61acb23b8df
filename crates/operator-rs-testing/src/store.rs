//! All objects of the server, the history of their changes, and the owners of objects.

use super::{
    converter::Converter,
    kinds::Kind,
    object::{Key, Object},
    secret::encode_string_data,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::Arc,
};
use tokio::{sync::watch, time::Instant};

/// Resource and key of an object.
pub type Id = (String, Key);

/// The type of a change of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// It is new.
    Added,
    /// It has changed.
    Modified,
    /// It is gone.
    Deleted,
}

/// One change.
#[derive(Clone, Debug)]
pub struct Change {
    /// The version that it made.
    pub version: u64,
    /// The time at which it was made.
    pub at: Instant,
    /// Its type.
    pub event: Event,
    /// The object after it; a deleted one has its last state and the version of the deletion.
    pub object: Arc<Object>,
    /// The object before it.
    pub before: Option<Arc<Object>>,
}

/// The objects of one resource.
#[derive(Debug)]
pub struct Collection {
    /// Its kind.
    pub kind: Kind,
    /// Its objects.
    pub objects: BTreeMap<Key, Arc<Object>>,
    /// The last changes, in order.
    pub history: VecDeque<Change>,
    /// Changes up to this version are not in the history any more.
    pub forgotten: u64,
    /// Tells the watches that there is news.
    pub news: watch::Sender<u64>,
}

/// Everything that the server holds.
#[derive(Debug)]
pub struct Store {
    /// The version of the last change.
    pub version: u64,
    /// The number of changes of a resource that are kept.
    pub window: usize,
    collections: HashMap<String, Collection>,
    /// The number of watches that were opened.
    pub watches: u64,
    /// The number of uids that were given.
    pub uids: u64,
    names: u64,
    /// Objects by uid.
    pub by_uid: HashMap<String, Id>,
    /// The objects that name a uid as their owner.
    pub dependents: HashMap<String, BTreeSet<Id>>,
    /// Objects that the garbage collector has to look at.
    pub suspects: Vec<Id>,
    /// Converts objects between the versions of their kind.
    pub converter: Converter,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            version: 100,
            window: 4096,
            collections: HashMap::new(),
            watches: 0,
            uids: 0,
            names: 0,
            by_uid: HashMap::new(),
            dependents: HashMap::new(),
            suspects: Vec::new(),
            converter: Converter::default(),
        }
    }
}

impl Store {
    /// The objects of a resource.
    pub fn collection(&mut self, resource: &str) -> &mut Collection {
        if !self.collections.contains_key(resource) {
            let collection = Collection {
                kind: Kind::of_resource(resource),
                objects: BTreeMap::new(),
                history: VecDeque::new(),
                forgotten: 0,
                news: watch::Sender::new(0),
            };
            self.collections.insert(resource.into(), collection);
        }
        self.collections.get_mut(resource).expect("it was just made sure")
    }

    /// All collections, with their resources.
    pub fn collections(&self) -> impl Iterator<Item = (&String, &Collection)> {
        self.collections.iter()
    }

    /// All collections, to change them.
    pub fn collections_mut(&mut self) -> impl Iterator<Item = &mut Collection> {
        self.collections.values_mut()
    }

    /// One object.
    pub fn get(&self, resource: &str, key: &Key) -> Option<Arc<Object>> {
        self.collections.get(resource)?.objects.get(key).cloned()
    }

    /// Puts an object that was there before the first request; what it says of itself stays.
    pub fn seed(&mut self, resource: &str, mut value: Value) {
        let kind = self.collection(resource).kind.clone();
        if let (true, Some(name)) = (kind.guessed, value["kind"].as_str()) {
            let kind = Kind { name: name.into(), guessed: false, ..kind.clone() };
            self.collection(resource).kind = kind;
        }
        if !value["metadata"].is_object() {
            value["metadata"] = json!({});
        }
        encode_string_data(resource, &mut value);
        let meta = &mut value["metadata"];
        if meta["uid"].is_null() {
            meta["uid"] = self.uid().into();
        }
        if meta["creationTimestamp"].is_null() {
            meta["creationTimestamp"] = now().into();
        }
        if kind.generation && meta["generation"].is_null() {
            meta["generation"] = 1.into();
        }
        let given = meta["resourceVersion"].as_str().and_then(|version| version.parse().ok());
        let version = given.unwrap_or(self.version);
        self.version = self.version.max(version);
        let object = Arc::new(Object::new(value, version));
        self.index(resource, None, Some(&object));
        self.collection(resource).objects.insert(object.key.clone(), object);
    }

    /// Creates or replaces an object.
    pub fn put(&mut self, resource: &str, value: Value) -> Arc<Object> {
        self.version += 1;
        let object = Arc::new(Object::new(value, self.version));
        let before = self.collection(resource).objects.insert(object.key.clone(), object.clone());
        self.index(resource, before.as_deref(), Some(&object));
        if object.deleting || object.owners.iter().any(|owner| !self.by_uid.contains_key(owner)) {
            self.suspects.push((resource.into(), object.key.clone()));
        }
        let event = if before.is_some() { Event::Modified } else { Event::Added };
        self.record_change(resource, event, object.clone(), before);
        object
    }

    /// Removes an object; its last stored state gets the version of the deletion.
    pub fn remove(&mut self, resource: &str, key: &Key) -> Option<Arc<Object>> {
        let before = self.collection(resource).objects.remove(key)?;
        self.version += 1;
        let object = Arc::new(Object::new(before.value(), self.version));
        self.index(resource, Some(&before), None);
        let owners = object.owners.iter().filter_map(|owner| self.by_uid.get(owner));
        let dependents = self.dependents.get(&object.uid).into_iter().flatten();
        self.suspects.extend(owners.chain(dependents).cloned());
        self.record_change(resource, Event::Deleted, object.clone(), Some(before));
        Some(object)
    }

    fn record_change(&mut self, resource: &str, event: Event, object: Arc<Object>, before: Option<Arc<Object>>) {
        let (version, window) = (self.version, self.window);
        let collection = self.collection(resource);
        collection.history.push_back(Change { version, at: Instant::now(), event, object, before });
        while window < collection.history.len() {
            collection.forgotten = collection.history.pop_front().map_or(0, |change| change.version);
        }
        collection.news.send_replace(version);
    }

    fn index(&mut self, resource: &str, before: Option<&Object>, after: Option<&Object>) {
        if let Some(before) = before {
            let id = (resource.to_owned(), before.key.clone());
            for uid in &before.owners {
                if let Some(ids) = self.dependents.get_mut(uid) {
                    ids.remove(&id);
                    if ids.is_empty() {
                        self.dependents.remove(uid);
                    }
                }
            }
            self.by_uid.remove(&before.uid);
        }
        if let Some(after) = after {
            let id = (resource.to_owned(), after.key.clone());
            for uid in &after.owners {
                self.dependents.entry(uid.clone()).or_default().insert(id.clone());
            }
            self.by_uid.insert(after.uid.clone(), id);
        }
    }

    /// A new uid: the same ones in the same order for every server.
    pub fn uid(&mut self) -> String {
        self.uids += 1;
        format!("00000000-0000-4000-8000-{:012x}", self.uids)
    }

    /// The end of a generated name, with the letters of the real server's.
    pub fn suffix(&mut self) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        self.names += 1;
        let mut n = self.names.wrapping_mul(7_919_777);
        let letter = |n: u64| char::from(LETTERS[usize::try_from(n % 27).unwrap_or_default()]);
        (0..5).map(|_| (letter(n), n /= 27).0).collect()
    }
}

/// The time in the form of Kubernetes.
pub fn now() -> String {
    let now = k8s_openapi::jiff::Timestamp::now();
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
