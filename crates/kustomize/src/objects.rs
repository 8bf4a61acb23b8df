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
const MAX_OBJECTS: usize = 10_000;

#[derive(Debug, Default)]
pub struct Objects(pub Vec<Object>);

impl Objects {
    /// Returns a view to which objects can be added while none of them changes.
    pub fn open_for_adding(&mut self) -> anyhow::Result<UniqueObjects<'_>> {
        let mut open = UniqueObjects { objects: self, ids: BTreeMap::new() };
        let before = std::mem::take(&mut open.objects.0);
        before.into_iter().try_for_each(|object| open.add_object(object))?;
        Ok(open)
    }

    /// Fails if two objects have one identity.
    pub fn check_identities(&mut self) -> anyhow::Result<()> {
        self.open_for_adding().map(drop)
    }
}

/// Objects, with their positions by current and former names.
pub struct Indexed<'a> {
    pub objects: &'a mut Objects,
    /// Positions of objects by name, in order. An entry may be outdated, so a lookup has to compare identities.
    names: BTreeMap<String, Vec<usize>>,
    has_empty: bool,
    /// True once the identities are known to be distinct.
    is_checked: bool,
}

impl<'a> Indexed<'a> {
    pub fn new(objects: &'a mut Objects) -> Self {
        let names = BTreeMap::new();
        let mut indexed = Self { objects, names, has_empty: false, is_checked: false };
        indexed.rebuild_index();
        indexed
    }

    fn rebuild_index(&mut self) {
        self.names.clear();
        for at in 0..self.objects.0.len() {
            self.add_names(at);
        }
    }

    fn add_names(&mut self, at: usize) {
        let object = &self.objects.0[at];
        for name in object.former_names().chain([object.name()]) {
            let positions = match self.names.get_mut(name) {
                Some(positions) => positions,
                None => self.names.entry(name.to_owned()).or_default(),
            };
            if let Err(position) = positions.binary_search(&at) {
                positions.insert(position, at);
            }
        }
    }

    /// Returns the positions of objects that may have, or may have had, this name; all positions if it is `None`.
    pub fn positions_with_name(&self, name: Option<&str>) -> anyhow::Result<Vec<usize>> {
        let positions: Vec<usize> = match name {
            Some(name) => self.names.get(name).cloned().unwrap_or_default(),
            None => (0..self.objects.0.len()).collect(),
        };
        if let Some(object) = self.objects.0.first() {
            object.budget.count_objects(positions.len())?;
        }
        Ok(positions)
    }

    /// Updates the positions after a change of an object that may have changed its identity.
    pub fn record_change(&mut self, at: usize) {
        self.has_empty |= self.objects.0[at].is_empty();
        self.is_checked = false;
        self.add_names(at);
    }

    /// Updates the positions after a change of an object that keeps its identity.
    pub fn record_content(&mut self, at: usize) {
        self.has_empty |= self.objects.0[at].is_empty();
        // A patch can change the annotations with its former names.
        self.add_names(at);
    }

    /// Removes the objects that patches have emptied.
    pub fn remove_empty(&mut self) -> anyhow::Result<()> {
        if std::mem::take(&mut self.has_empty) {
            if let Some(object) = self.objects.0.first() {
                object.budget.count_objects(self.objects.0.len())?;
            }
            self.objects.0.retain(|object| !object.is_empty());
            self.rebuild_index();
        }
        Ok(())
    }

    /// Fails if two objects have one identity.
    pub fn check_identities(&mut self) -> anyhow::Result<()> {
        if !self.is_checked {
            if let Some(object) = self.objects.0.first() {
                object.budget.count_objects(self.objects.0.len())?;
            }
            self.objects.check_identities()?;
            self.is_checked = true;
        }
        Ok(())
    }

    /// Adds a generated object, or merges it with an existing one.
    pub fn add_or_merge(&mut self, mut object: Object) -> anyhow::Result<()> {
        let id = object.id();
        let behavior = object.find_annotation(BEHAVIOR).unwrap_or_default().to_owned();
        let create = !matches!(behavior.as_str(), "merge" | "replace");
        match self.positions_with_id(&id)?[..] {
            [] if create => {
                self.objects.0.push(object);
                self.record_change(self.objects.0.len() - 1);
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
                inherit_from(&mut object, &self.objects.0[at], behavior == "merge").map_err(
                    |error| error.context(format!("{}: {behavior} of {id}", object.origin)),
                )?;
                self.objects.0[at] = object;
                self.record_change(at);
            }
            _ => anyhow::bail!("{}: there is more than one {id} to {behavior}", object.origin),
        }
        Ok(())
    }

    /// Returns the positions of objects that have, or had, this identity.
    pub fn positions_with_id(&self, id: &Id) -> anyhow::Result<Vec<usize>> {
        let mut positions = self.positions_with_name(Some(&id.name))?;
        positions.retain(|at| self.objects.0[*at].has_or_had_id(id));
        Ok(positions)
    }
}

/// Objects whose identities are distinct, with their positions by identity.
pub struct UniqueObjects<'a> {
    objects: &'a mut Objects,
    ids: BTreeMap<(String, String, String, String), usize>,
}

impl UniqueObjects<'_> {
    pub fn add_object(&mut self, object: Object) -> anyhow::Result<()> {
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
        if self.len() >= MAX_OBJECTS {
            let message =
                format!("{}: more than {MAX_OBJECTS} objects are not supported", object.origin);
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

/// Takes over the name, the namespace and the metadata of the object that a generated one replaces.
fn inherit_from(object: &mut Object, old: &Object, data_too: bool) -> anyhow::Result<()> {
    let hashed = object.find_annotation(HASHED).is_some();
    let (name, namespace) = (old.name().to_owned(), old.namespace().to_owned());
    merge_mapping(object, old, "/metadata/labels")?;
    for (key, _) in object.internal_annotations() {
        object.value["metadata"]["annotations"]
            .as_object_mut()
            .map(|annotations| annotations.remove(&key));
    }
    merge_mapping(object, old, "/metadata/annotations")?;
    if !hashed && let Some(Value::Object(map)) = object.value.pointer_mut("/metadata/annotations") {
        map.remove(HASHED);
    }
    if data_too {
        merge_mapping(object, old, "/data")?;
        merge_mapping(object, old, "/binaryData")?;
    }
    object.set_name(&name)?;
    object.set_namespace(Some(namespace.as_str()).filter(|namespace| !namespace.is_empty()))
}

/// Merges maps of strings; existing entries take precedence.
fn merge_mapping(object: &mut Object, old: &Object, pointer: &str) -> anyhow::Result<()> {
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
    if all.is_empty() {
        parent.remove(key);
    } else {
        parent.insert(key.to_owned(), all.into());
    }
    Ok(())
}
