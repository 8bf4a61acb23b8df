//! The fields that a transformation changes: kustomize's field specifications.

use super::{
    budget::{self, Budget},
    id::Id,
    object::Object,
};
use go_data::yaml::{Value, json};

/// Selects objects; an empty group, version or kind matches any.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gvk {
    pub group: String,
    pub version: String,
    pub kind: String,
}

impl Gvk {
    pub fn selects_parts(&self, group: &str, version: &str, kind: &str) -> bool {
        let is = |wanted: &str, actual: &str| wanted.is_empty() || wanted == actual;
        is(&self.group, group) && is(&self.version, version) && is(&self.kind, kind)
    }

    pub fn selects_id(&self, id: &Id) -> bool {
        self.selects_parts(&id.group, &id.version, &id.kind)
    }
}

/// A path into objects of some kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub gvk: Gvk,
    /// Keys; one with `[]` leads to a list. Lists on the way are walked through.
    pub path: Vec<String>,
    /// True if missing parts of the path are created.
    pub create: bool,
}

/// Returns the keys of a path; a backslash before a slash makes it part of the key.
pub fn split_path(path: &str, sign: char) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut joined = false;
    for part in path.strip_prefix(sign).unwrap_or(path).split(sign) {
        let (text, more) = part.strip_suffix('\\').map_or((part, false), |start| (start, true));
        match parts.last_mut() {
            Some(last) if joined => {
                last.push(sign);
                last.push_str(text);
            }
            _ => parts.push(text.to_owned()),
        }
        joined = more;
    }
    parts
}

impl Field {
    pub fn new(gvk: Gvk, path: &str, create: bool) -> Self {
        Self { gvk, path: split_path(path, '/'), create }
    }

    pub fn selects_object(&self, object: &Object) -> bool {
        let (group, version) = object.group_version();
        self.gvk.selects_parts(group, version, object.kind())
    }

    pub fn has_path(&self, path: &str) -> bool {
        self.path.iter().map(String::as_str).eq(path.split('/'))
    }

    /// Calls `set` on every value at the path in the selected objects. A missing value is created as `empty`, if
    /// given.
    pub fn visit_if_selected(
        &self,
        object: &mut Object,
        empty: Option<&Value>,
        set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if self.selects_object(object) { self.visit_values(object, empty, set) } else { Ok(()) }
    }

    /// Calls `set` on every value at the path, in any object.
    pub fn visit_values(
        &self,
        object: &mut Object,
        empty: Option<&Value>,
        set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        object.budget.count_items(1)?;
        let empty = empty.filter(|_| self.create);
        if empty.is_some() {
            budget::check_depth(self.path.len())?;
        }
        visit_path(&mut object.value, &self.path, empty, &object.budget, set).map_err(|error| {
            error.context(format!(
                "{}: `{}` of {}",
                object.origin,
                self.path.join("/"),
                object.id()
            ))
        })
    }
}

fn visit_path(
    value: &mut Value,
    path: &[String],
    empty: Option<&Value>,
    budget: &Budget,
    set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some((part, rest)) = path.split_first() else {
        return budget.change_value(value, set);
    };
    match value {
        Value::Null => Ok(()),
        Value::Array(items) => {
            items.iter_mut().try_for_each(|item| visit_path(item, path, empty, budget, set))
        }
        Value::Object(map) => {
            let key = part.strip_suffix("[]");
            let create = empty.filter(|_| key.is_none());
            let found = map.get_mut(key.unwrap_or(part));
            let field = match (found, create) {
                (Some(field), _) => field,
                (None, None) => return Ok(()),
                (None, Some(_)) => {
                    budget.take_bytes(part.len())?;
                    map.entry(part.clone()).or_insert(Value::Null)
                }
            };
            if field.is_null() {
                match create {
                    Some(empty) if rest.is_empty() => *field = empty.clone(),
                    Some(_) => *field = json!({}),
                    None if key.is_some() => *field = json!([]),
                    None => {}
                }
            }
            visit_path(field, rest, empty, budget, set)
        }
        _ => anyhow::bail!("a field on the path is neither a map nor a list"),
    }
}
