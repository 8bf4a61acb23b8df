//! All objects of a kustomization, in order of appearance.

use std::collections::BTreeMap;

use super::{
    WAY_OUT,
    id::Id,
    object::{BEHAVIOR, HASHED, Object},
};
use diagnostics::Hint as _;
use go_data::yaml::{Map, Value};

/// The most objects that are rendered: each may refer to any other.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub struct Objects(pub Vec<Object>);

impl Objects {
    /// To add to, while none of them changes.
    pub fn open(&mut self) -> anyhow::Result<Open<'_>> {
        let mut open = Open { objects: self, ids: BTreeMap::new() };
        let before = std::mem::take(&mut open.objects.0);
        before.into_iter().try_for_each(|it| open.add(it))?;
        Ok(open)
    }

    /// Fails if two objects have one identity.
    pub fn check(&mut self) -> anyhow::Result<()> {
        self.open().map(drop)
    }
}

/// Objects and where each is among them, by its current and former names.
pub struct Indexed<'a> {
    pub objects: &'a mut Objects,
    /// Positions of objects by name, in order. An entry may be outdated, so a lookup has to compare identities.
    names: BTreeMap<String, Vec<usize>>,
    has_empty: bool,
    /// True if it is known that no two objects have one identity.
    is_checked: bool,
}

impl<'a> Indexed<'a> {
    pub fn new(objects: &'a mut Objects) -> Self {
        let names = BTreeMap::new();
        let mut indexed = Self { objects, names, has_empty: false, is_checked: false };
        indexed.index();
        indexed
    }

    fn index(&mut self) {
        self.names.clear();
        for at in 0..self.objects.0.len() {
            self.add_names(at);
        }
    }

    fn add_names(&mut self, at: usize) {
        let object = &self.objects.0[at];
        for name in object.former_names().chain([object.name()]) {
            let places = match self.names.get_mut(name) {
                Some(places) => places,
                None => self.names.entry(name.to_owned()).or_default(),
            };
            if let Err(place) = places.binary_search(&at) {
                places.insert(place, at);
            }
        }
    }

    /// Returns the positions of objects that may have, or may have had, this name; all positions if it is `None`.
    pub fn with_name(&self, name: Option<&str>) -> anyhow::Result<Vec<usize>> {
        let places: Vec<usize> = match name {
            Some(name) => self.names.get(name).cloned().unwrap_or_default(),
            None => (0..self.objects.0.len()).collect(),
        };
        if let Some(object) = self.objects.0.first() {
            object.budget.look_at(places.len())?;
        }
        Ok(places)
    }

    /// To be called after a change of an object that may be about its identity.
    pub fn note_change(&mut self, at: usize) {
        self.has_empty |= self.objects.0[at].is_empty();
        self.is_checked = false;
        self.add_names(at);
    }

    /// To be called after a change of an object that keeps its identity.
    pub fn note_content(&mut self, at: usize) {
        self.has_empty |= self.objects.0[at].is_empty();
        // A patch can change the annotations with its former names.
        self.add_names(at);
    }

    /// Removes the objects of which nothing is left.
    pub fn remove_empty(&mut self) -> anyhow::Result<()> {
        if std::mem::take(&mut self.has_empty) {
            if let Some(object) = self.objects.0.first() {
                object.budget.look_at(self.objects.0.len())?;
            }
            self.objects.0.retain(|object| !object.is_empty());
            self.index();
        }
        Ok(())
    }

    /// Fails if two objects have one identity.
    pub fn check(&mut self) -> anyhow::Result<()> {
        if !self.is_checked {
            if let Some(object) = self.objects.0.first() {
                object.budget.look_at(self.objects.0.len())?;
            }
            self.objects.check()?;
            self.is_checked = true;
        }
        Ok(())
    }

    /// Adds a generated object, or merges it with an existing one.
    pub fn absorb(&mut self, mut object: Object) -> anyhow::Result<()> {
        let id = object.id();
        let behavior = object.annotation(BEHAVIOR).unwrap_or_default().to_owned();
        let create = !matches!(behavior.as_str(), "merge" | "replace");
        match self.by_any_id(&id)?[..] {
            [] if create => {
                self.objects.0.push(object);
                self.note_change(self.objects.0.len() - 1);
            }
            [] => {
                return Err(anyhow::format_err!(
                    "{}: there is no {id} to {behavior}",
                    object.origin
                ))
                .hint(
                    "remove the `behavior`, or list the object that it changes under `resources`",
                );
            }
            [at] if create => {
                let other = &self.objects.0[at].origin;
                return Err(anyhow::format_err!(
                    "{}: {id} already exists, from {other}",
                    object.origin
                ))
                .hint("give it another name, or `behavior: merge` or `behavior: replace`");
            }
            [at] => {
                inherit(&mut object, &self.objects.0[at], behavior == "merge")
                    .map_err(|it| it.context(format!("{}: {behavior} of {id}", object.origin)))?;
                self.objects.0[at] = object;
                self.note_change(at);
            }
            _ => anyhow::bail!("{}: there is more than one {id} to {behavior}", object.origin),
        }
        Ok(())
    }

    /// The objects that have, or had, this identity.
    pub fn by_any_id(&self, id: &Id) -> anyhow::Result<Vec<usize>> {
        let mut places = self.with_name(Some(&id.name))?;
        places.retain(|at| self.objects.0[*at].was(id));
        Ok(places)
    }
}

/// Objects and where each is among them, by what it is.
pub struct Open<'a> {
    objects: &'a mut Objects,
    ids: BTreeMap<(String, String, String, String), usize>,
}

impl Open<'_> {
    pub fn add(&mut self, object: Object) -> anyhow::Result<()> {
        let id = object.id();
        let Id { group, version, kind, name, namespace, .. } = id.clone();
        let key = (format!("{group}/{version}"), kind, name, namespace);
        if let Some(at) = self.ids.get(&key) {
            let other = &self.objects.0[*at].origin;
            return if *other == object.origin {
                Err(anyhow::format_err!("{other} is listed twice: {id}"))
                    .hint("list each directory and file only once")
            } else {
                Err(anyhow::format_err!("{}: {id} already exists, from {other}", object.origin))
                    .hint("rename one of the two objects, or list only one of the files")
            };
        }
        if MOST <= self.len() {
            let message = format!("{}: more than {MOST} objects are not supported", object.origin);
            return Err(anyhow::format_err!(message)).hint(WAY_OUT);
        }
        self.ids.insert(key, self.len());
        self.objects.0.push(object);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.objects.0.len()
    }
}

/// What a generated object inherits from the one that it replaces.
fn inherit(object: &mut Object, old: &Object, data_too: bool) -> anyhow::Result<()> {
    let hashed = object.annotation(HASHED).is_some();
    let (name, namespace) = (old.name().to_owned(), old.namespace().to_owned());
    merge(object, old, "/metadata/labels")?;
    for (key, _) in object.internal_annotations() {
        object.value["metadata"]["annotations"].as_object_mut().map(|it| it.remove(&key));
    }
    merge(object, old, "/metadata/annotations")?;
    if !hashed && let Some(Value::Object(map)) = object.value.pointer_mut("/metadata/annotations") {
        map.remove(HASHED);
    }
    if data_too {
        merge(object, old, "/data")?;
        merge(object, old, "/binaryData")?;
    }
    object.set_name(&name)?;
    object.set_namespace(Some(namespace.as_str()).filter(|it| !it.is_empty()))
}

/// Merges maps of strings; existing entries take precedence.
fn merge(object: &mut Object, old: &Object, pointer: &str) -> anyhow::Result<()> {
    let mut all = Map::new();
    for value in [&old.value, &object.value] {
        for (key, value) in value.pointer(pointer).and_then(Value::as_object).into_iter().flatten()
        {
            if super::share::is_note(key) {
                continue;
            }
            if !value.is_string() {
                anyhow::bail!("`{key}` in {pointer} is not a string");
            }
            all.insert(key.clone(), value.clone());
        }
    }
    let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
    let Some(Value::Object(parent)) = object.value.pointer_mut(parent) else { return Ok(()) };
    match all.is_empty() {
        true => drop(parent.remove(key)),
        false => drop(parent.insert(key.to_owned(), all.into())),
    }
    Ok(())
}
