//! Where in an object a transformation works: kustomize's field specifications.

use super::object::Object;
use crate::yaml::{Value, json};

/// A path into objects of some kind; an empty group, version or kind stands for any.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    /// Keys, joined by `/`; a key with `[]` leads to a list. Lists on the way are walked through.
    pub path: &'static str,
    /// What the path starts from; nothing for the object itself.
    pub base: &'static str,
    /// Whether what is missing of the path is made.
    pub create: bool,
}

impl Field {
    pub const fn of(kind: &'static str, path: &'static str) -> Self {
        Self { group: "", version: "", kind, path, base: "", create: false }
    }
    pub const fn made(kind: &'static str, path: &'static str) -> Self {
        Self { group: "", version: "", kind, path, base: "", create: true }
    }
    pub const fn in_group(self, group: &'static str) -> Self {
        Self { group, ..self }
    }
    pub const fn below(self, base: &'static str) -> Self {
        Self { base, ..self }
    }
    pub const fn in_version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    pub fn selects(&self, object: &Object) -> bool {
        let (group, version) = object.group_version();
        let is = |wanted: &str, it: &str| wanted.is_empty() || wanted == it;
        is(self.group, group) && is(self.version, version) && is(self.kind, object.kind())
    }

    /// Calls `set` on every value at the path, in objects that this selects. What is made at its end
    /// is an `empty`; without one nothing is made.
    pub fn visit(
        &self,
        object: &mut Object,
        empty: Option<&Value>,
        set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if !self.selects(object) {
            return Ok(());
        }
        let path: Vec<&str> =
            self.base.split('/').filter(|it| !it.is_empty()).chain(self.path.split('/')).collect();
        let empty = empty.filter(|_| self.create);
        walk(&mut object.value, &path, empty, set).map_err(|error| {
            error.context(format!("{}: `{}` of {}", object.origin, self.path, object.id()))
        })
    }
}

fn walk(
    value: &mut Value,
    path: &[&str],
    empty: Option<&Value>,
    set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some((key, rest)) = path.split_first() else {
        return set(value);
    };
    match value {
        Value::Null => Ok(()),
        Value::Array(items) => items.iter_mut().try_for_each(|it| walk(it, path, empty, set)),
        Value::Object(map) => {
            // A `~1` stands for a slash in a key.
            let (key, is_list) = match key.strip_suffix("[]") {
                Some(key) => (key.replace("~1", "/"), true),
                None => (key.replace("~1", "/"), false),
            };
            if let Some(empty) = empty.filter(|_| !is_list) {
                let made = if rest.is_empty() { empty.clone() } else { json!({}) };
                let field = map.entry(key).or_insert(Value::Null);
                if field.is_null() {
                    *field = made;
                }
                return walk(field, rest, Some(empty), set);
            }
            match map.get_mut(&key) {
                None | Some(Value::Null) => Ok(()),
                Some(field) => walk(field, rest, empty, set),
            }
        }
        _ => anyhow::bail!("a map or a list is expected on the way"),
    }
}
