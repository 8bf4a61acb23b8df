//! Field paths as replacements write them: `spec.containers.[name=web].ports.0`, `a.*.b`.

use super::{
    budget::Budget,
    fields,
    pattern::{Pattern, Scope},
    share,
};
use go_data::yaml::{Map, Value, json};

/// The parts of a path; a point in brackets or after a backslash belongs to its part.
pub fn split(path: &str) -> Vec<String> {
    let mut res: Vec<String> = Vec::new();
    let mut open: Option<String> = None;
    for part in fields::split(path, '.') {
        let all = match open.take() {
            Some(mut start) => {
                start.push('.');
                start.push_str(&part);
                start
            }
            None => part,
        };
        match all.starts_with('[') && !all.ends_with(']') {
            true => open = Some(all),
            false if all.contains('.') && !all.contains('=') => {
                res.push(all.trim_matches(['[', ']']).to_owned());
            }
            false => res.push(all),
        }
    }
    res.extend(open);
    res
}

/// `[name=value]`
fn item(part: &str) -> Option<anyhow::Result<(&str, &str)>> {
    let inner = part.strip_prefix('[')?.strip_suffix(']')?;
    Some(
        inner
            .split_once('=')
            .ok_or_else(|| anyhow::format_err!("`{part}` is not of the form `[field=value]`")),
    )
}

/// A scalar as it is written, as far as that is known.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(it) => Some(it.to_string()),
        Value::Number(it) if !it.is_f64() => Some(it.to_string()),
        _ => None,
    }
}

/// How the scalar at a path is written, where JSON would not write it so.
pub fn spelling<'v>(value: &'v Value, path: &[String], budget: &Budget) -> Option<&'v str> {
    let (key, parent) = path.split_last()?;
    share::spelling(get(value, parent, budget).ok()??.as_object()?, key)
}

/// The value at a path.
pub fn get<'v>(
    mut value: &'v Value,
    path: &[String],
    budget: &Budget,
) -> anyhow::Result<Option<&'v Value>> {
    for part in path.iter().map(|it| it.trim()).filter(|it| !it.is_empty()) {
        let list = || {
            value.as_array().ok_or_else(|| {
                anyhow::format_err!("`{part}` cannot be looked up: this is not a list")
            })
        };
        let found = match (part.parse::<usize>(), item(part)) {
            _ if value.is_null() => None,
            (Ok(at), _) => list()?.get(at),
            _ if part == "-" => list()?.last(),
            _ if part == "*" => anyhow::bail!("`*` is allowed in targets only"),
            (_, Some(item)) => {
                let (field, wanted) = item?;
                let is = |it: &&Value| match field {
                    "" => text(it).as_deref() == Some(wanted),
                    field => it.get(field).and_then(text).as_deref() == Some(wanted),
                };
                let list = list()?;
                budget.look_at_items(list.len())?;
                list.iter().find(is)
            }
            _ => match value {
                Value::Object(map) => map.get(part),
                _ => anyhow::bail!("`{part}` cannot be looked up: this is not a map"),
            },
        };
        match found {
            Some(found) => value = found,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// Calls `set` on all that a path leads to.
pub struct Visitor<'a> {
    /// The value at the end of a path of which something is missing; without it, nothing is created.
    pub empty: Option<&'a Value>,
    pub set: &'a mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    pub budget: &'a Budget,
}

impl Visitor<'_> {
    /// Visits a path below a value, and returns the number of calls.
    pub fn visit(&mut self, value: &mut Value, path: &[String]) -> anyhow::Result<usize> {
        let Some((part, rest)) = path.split_first() else {
            (self.set)(value)?;
            return Ok(1);
        };
        if !value.is_array() && !value.is_object() && !value.is_null() {
            anyhow::bail!(
                "the path continues inside a string, at `{part}`, which is not supported"
            );
        }
        if let Ok(at) = part.parse::<usize>() {
            let list = list(value, part)?;
            if let (true, Some(empty)) = (at == list.len(), self.empty) {
                list.push(missing_value(rest, empty));
            }
            let length = list.len();
            let Some(item) = list.get_mut(at) else {
                anyhow::bail!("there is no item `{at}`, but {length}");
            };
            return self.visit(item, rest);
        }
        if part == "*" {
            let list = list(value, part)?;
            self.budget.look_at_items(list.len())?;
            return list.iter_mut().try_fold(0, |n, item| Ok(n + self.visit(item, rest)?));
        }
        if let Some(item) = item(part) {
            return self.visit_items(list(value, part)?, item?, rest);
        }
        match value {
            Value::Object(map) => self.visit_entry(map, part, rest),
            Value::Null if self.empty.is_none() => Ok(0),
            _ => anyhow::bail!("`{part}` cannot be looked up: this is not a map"),
        }
    }

    fn visit_entry(
        &mut self,
        map: &mut Map<String, Value>,
        key: &str,
        rest: &[String],
    ) -> anyhow::Result<usize> {
        if let (Some(empty), false) = (self.empty, map.contains_key(key)) {
            map.insert(key.to_owned(), missing_value(rest, empty));
        }
        let Some(field) = map.get_mut(key) else { return Ok(0) };
        let count = self.visit(field, rest)?;
        if rest.is_empty() {
            share::note_change_in_place(map, key);
        }
        Ok(count)
    }

    fn visit_items(
        &mut self,
        list: &mut Vec<Value>,
        (field, wanted): (&str, &str),
        rest: &[String],
    ) -> anyhow::Result<usize> {
        let budget = self.budget;
        let pattern = Pattern::compile(wanted, Scope::Anywhere, budget)?;
        let is = |item: &Value| {
            let value = if field.is_empty() { Some(item) } else { item.get(field) };
            let text = value.and_then(text);
            text.map_or(Ok(false), |text| pattern.is_match(&text, budget))
        };
        budget.look_at_items(list.len())?;
        let rest = if field.is_empty() { &[] } else { rest };
        let mut count = 0;
        for item in list.iter_mut() {
            if is(item)? {
                count += self.visit(item, rest)?;
            }
        }
        if count > 0 || self.empty.is_none() {
            return Ok(count);
        }
        list.push(if field.is_empty() { wanted.into() } else { json!({ field: wanted }) });
        match list.last_mut() {
            Some(item) if is(item)? => self.visit(item, rest),
            _ => anyhow::bail!("`{wanted}` is a pattern, so no item can be created from it"),
        }
    }
}

/// The value to create where the rest of the path leads through or to.
fn missing_value(rest: &[String], empty: &Value) -> Value {
    match rest.first() {
        None => empty.clone(),
        Some(next) if next.parse::<usize>().is_ok() || item(next).is_some() => json!([]),
        Some(_) => json!({}),
    }
}

fn list<'v>(value: &'v mut Value, part: &str) -> anyhow::Result<&'v mut Vec<Value>> {
    match value {
        Value::Array(list) => Ok(list),
        _ => anyhow::bail!("`{part}` cannot be looked up: this is not a list"),
    }
}
