//! The fields that a transformation changes: kustomize's field specifications.

use super::{
    budget::{self, Budget},
    id::Id,
    object::Object,
};
use go_data::yaml::{Value, json};

/// Selects objects; an empty group, version or kind matches any.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    pub group: String,
    pub version: String,
    pub kind: String,
}

impl Kind {
    pub fn selects(&self, group: &str, version: &str, kind: &str) -> bool {
        let is = |wanted: &str, it: &str| wanted.is_empty() || wanted == it;
        is(&self.group, group) && is(&self.version, version) && is(&self.kind, kind)
    }

    pub fn selects_id(&self, id: &Id) -> bool {
        self.selects(&id.group, &id.version, &id.kind)
    }
}

/// A path into objects of some kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub of: Kind,
    /// Keys; one with `[]` leads to a list. Lists on the way are walked through.
    pub path: Vec<String>,
    /// Whether missing parts of the path are created.
    pub create: bool,
}

/// The keys of a path; a backslash before a slash makes it part of the key.
pub fn split(path: &str, sign: char) -> Vec<String> {
    let mut res: Vec<String> = Vec::new();
    let mut joined = false;
    for part in path.strip_prefix(sign).unwrap_or(path).split(sign) {
        let (text, more) = part.strip_suffix('\\').map_or((part, false), |it| (it, true));
        match res.last_mut() {
            Some(last) if joined => {
                last.push(sign);
                last.push_str(text);
            }
            _ => res.push(text.to_owned()),
        }
        joined = more;
    }
    res
}

impl Field {
    pub fn new(of: Kind, path: &str, create: bool) -> Self {
        Self { of, path: split(path, '/'), create }
    }

    pub fn selects(&self, object: &Object) -> bool {
        let (group, version) = object.group_version();
        self.of.selects(group, version, object.kind())
    }

    pub fn is(&self, path: &str) -> bool {
        self.path.iter().map(String::as_str).eq(path.split('/'))
    }

    /// Calls `set` on every value at the path in the selected objects. A missing value is created as `empty`, if
    /// given.
    pub fn visit(
        &self,
        object: &mut Object,
        empty: Option<&Value>,
        set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if self.selects(object) { self.visit_any(object, empty, set) } else { Ok(()) }
    }

    /// Calls `set` on every value at the path, in any object.
    pub fn visit_any(
        &self,
        object: &mut Object,
        empty: Option<&Value>,
        set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        object.budget.look_at_items(1)?;
        let empty = empty.filter(|_| self.create);
        if empty.is_some() {
            budget::check_depth(self.path.len())?;
        }
        walk(&mut object.value, &self.path, empty, &object.budget, set).map_err(|error| {
            error.context(format!(
                "{}: `{}` of {}",
                object.origin,
                self.path.join("/"),
                object.id()
            ))
        })
    }
}

fn walk(
    value: &mut Value,
    path: &[String],
    empty: Option<&Value>,
    budget: &Budget,
    set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some((part, rest)) = path.split_first() else {
        return budget.change(value, set);
    };
    match value {
        Value::Null => Ok(()),
        Value::Array(items) => {
            items.iter_mut().try_for_each(|it| walk(it, path, empty, budget, set))
        }
        Value::Object(map) => {
            let key = part.strip_suffix("[]");
            let create = empty.filter(|_| key.is_none());
            let found = map.get_mut(key.unwrap_or(part));
            let field = match (found, create) {
                (Some(field), _) => field,
                (None, None) => return Ok(()),
                (None, Some(_)) => {
                    budget.take(part.len())?;
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
            walk(field, rest, empty, budget, set)
        }
        _ => anyhow::bail!("a field on the path is neither a map nor a list"),
    }
}
