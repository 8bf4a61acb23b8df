//! `vars`: replaces `$(NAME)` in the fields that support it with the value of an object's field.

use std::collections::BTreeMap;

use super::{config::Config, fields::Kind, id::Id, objects::Objects, path, share};
use diagnostics::Hint as _;
use go_data::yaml::{Mark, Value};

#[derive(Clone, Debug, Default)]
pub struct Variable {
    pub mark: Mark,
    pub name: String,
    /// Its kind, in full.
    pub of: Kind,
    /// The name of the object.
    pub object: String,
    pub namespace: String,
    pub path: String,
}

impl Variable {
    fn means(&self, id: &Id) -> bool {
        let namespace = if self.namespace.is_empty() { &id.namespace } else { &self.namespace };
        id.name == self.object
            && (&id.group, &id.version, &id.kind)
                == (&self.of.group, &self.of.version, &self.of.kind)
            && id.namespace == *namespace
    }
}

/// Variables by name, with the path of the field that each refers to.
pub type Variables = BTreeMap<String, String>;

/// Finds the object that a variable refers to. Its name may still change.
pub fn define(
    all: &mut Variables,
    variable: &Variable,
    objects: &mut Objects,
) -> anyhow::Result<()> {
    let is = |it: Id| variable.means(&it);
    let mut found = objects.0.iter_mut().filter(|it| it.former_ids().any(is) || is(it.id()));
    if let Some(object) = found.next() {
        object.variables.push(variable.name.clone());
    }
    if found.next().is_some() {
        anyhow::bail!("`{}` could refer to more than one object", variable.name);
    }
    merge(all, BTreeMap::from([(variable.name.clone(), variable.path.clone())]))
}

pub fn merge(all: &mut Variables, more: Variables) -> anyhow::Result<()> {
    for (name, path) in more {
        if all.contains_key(&name) {
            anyhow::bail!("there are two variables called `{name}`");
        }
        all.insert(name, path);
    }
    Ok(())
}

pub fn resolve(objects: &mut Objects, all: &Variables, config: &Config) -> anyhow::Result<()> {
    let mut values = BTreeMap::new();
    for (name, path) in all {
        let object = objects.0.iter().find(|it| it.variables.contains(name));
        let object =
            object.ok_or_else(|| anyhow::format_err!("variable `{name}` refers to no object"))?;
        let path: Vec<String> = path::split(path).iter().flat_map(|it| indexed(it)).collect();
        if let Some(spelling) = path::spelling(&object.value, &path) {
            return Err(anyhow::format_err!(
                "variable `{name}` refers to `{spelling}`, which kustomize does not read in one way"
            ))
            .hint("write it in quotes");
        }
        match path::get(&object.value, &path)? {
            Some(value) if path::text(value).is_some() => {
                values.insert(name.as_str(), value.clone())
            }
            _ => anyhow::bail!(
                "variable `{name}` refers to `{}` of {}, which is neither a string nor an integer",
                path.join("."),
                object.id()
            ),
        };
    }
    if values.is_empty() {
        return Ok(());
    }
    for object in &mut objects.0 {
        for field in config.list("varReference") {
            field.visit(object, None, &mut |it| replace(it, &values))?;
        }
        share::settle(&mut object.value);
    }
    Ok(())
}

/// `ports[0]` is two parts.
fn indexed(part: &str) -> Vec<String> {
    let found = part.strip_suffix(']').and_then(|it| it.rsplit_once('['));
    match found.filter(|it| it.1.parse::<usize>().is_ok()) {
        Some(("", at)) => vec![at.to_owned()],
        Some((key, at)) => vec![key.to_owned(), at.to_owned()],
        None => vec![part.to_owned()],
    }
}

fn replace(value: &mut Value, values: &BTreeMap<&str, Value>) -> anyhow::Result<()> {
    match value {
        Value::String(text) => *value = expand(text, values),
        Value::Object(map) => {
            let texts: Vec<(String, Value)> = map
                .iter()
                .filter_map(|(key, it)| Some((key.clone(), expand(it.as_str()?, values))))
                .collect();
            for (key, new) in texts {
                if map.get(&key) != Some(&new) {
                    share::note_change(map, &key, Some(&new));
                    map.insert(key, new);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                let Value::String(text) = item else {
                    anyhow::bail!("a list of strings is expected there")
                };
                *item = expand(text, values);
            }
        }
        _ => {}
    }
    Ok(())
}

/// `$$` is a dollar sign, and unknown variables remain. A string that is only a variable gets the variable's type.
fn expand(text: &str, values: &BTreeMap<&str, Value>) -> Value {
    let mut res = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$').filter(|at| at + 1 < rest.len()) {
        res += &rest[..at];
        rest = &rest[at + 1..];
        let name = rest.strip_prefix('(').and_then(|it| it.split_once(')'));
        if let Some((name, after)) = name {
            match values.get(name) {
                Some(value) if text.len() == name.len() + 3 => return value.clone(),
                Some(value) => res += &path::text(value).unwrap_or_default(),
                None => res += &format!("$({name})"),
            }
            rest = after;
        } else {
            let next = rest.chars().next().map_or(0, char::len_utf8);
            if !rest.starts_with('$') {
                res.push('$');
            }
            res += &rest[..next];
            rest = &rest[next..];
        }
    }
    (res + rest).into()
}
