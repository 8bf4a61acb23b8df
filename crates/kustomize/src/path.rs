//! Field paths as replacements write them: `spec.containers.[name=web].ports.0`, `a.*.b`.

use super::{
    budget::Budget,
    fields,
    pattern::{Pattern, Scope},
    share,
};
use go_data::yaml::{Map, Value, json};

/// Returns the parts of a path; a point in brackets or after a backslash belongs to its part.
pub fn split_path(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut open: Option<String> = None;
    for part in fields::split_path(path, '.') {
        let all = match open.take() {
            Some(mut start) => {
                start.push('.');
                start.push_str(&part);
                start
            }
            None => part,
        };
        if all.starts_with('[') && !all.ends_with(']') {
            open = Some(all);
        } else if all.contains('.') && !all.contains('=') {
            parts.push(all.trim_matches(['[', ']']).to_owned());
        } else {
            parts.push(all);
        }
    }
    parts.extend(open);
    parts
}

/// Parses `[name=value]`.
fn parse_item(part: &str) -> Option<anyhow::Result<(&str, &str)>> {
    let inner = part.strip_prefix('[')?.strip_suffix(']')?;
    Some(
        inner
            .split_once('=')
            .ok_or_else(|| anyhow::format_err!("`{part}` is not of the form `[field=value]`")),
    )
}

/// Returns the text of a scalar, if the way it is written is known.
pub fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the spelling of the scalar at a path, if JSON would spell it in another way.
pub fn find_spelling<'v>(value: &'v Value, path: &[String], budget: &Budget) -> Option<&'v str> {
    let (key, parent) = path.split_last()?;
    share::find_spelling(find_value(value, parent, budget).ok()??.as_object()?, key)
}

/// Returns the value at a path.
pub fn find_value<'v>(
    mut value: &'v Value,
    path: &[String],
    budget: &Budget,
) -> anyhow::Result<Option<&'v Value>> {
    for part in path.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        let list = || {
            value.as_array().ok_or_else(|| {
                anyhow::format_err!("`{part}` cannot be looked up: this is not a list")
            })
        };
        let found = match (part.parse::<usize>(), parse_item(part)) {
            _ if value.is_null() => None,
            (Ok(at), _) => list()?.get(at),
            _ if part == "-" => list()?.last(),
            _ if part == "*" => anyhow::bail!("`*` is allowed in targets only"),
            (_, Some(item)) => {
                let (field, wanted) = item?;
                let is = |item: &&Value| match field {
                    "" => scalar_text(item).as_deref() == Some(wanted),
                    field => item.get(field).and_then(scalar_text).as_deref() == Some(wanted),
                };
                let list = list()?;
                budget.count_items(list.len())?;
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

/// Calls `set` on all values that a path leads to.
pub struct Visitor<'a> {
    /// The value that is created at the end of an incomplete path; without it, nothing is created.
    pub empty: Option<&'a Value>,
    pub set: &'a mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
    pub budget: &'a Budget,
}

impl Visitor<'_> {
    /// Visits a path below a value, and returns the number of calls.
    pub fn visit_path(&mut self, value: &mut Value, path: &[String]) -> anyhow::Result<usize> {
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
            let list = expect_list(value, part)?;
            if let (true, Some(empty)) = (at == list.len(), self.empty) {
                list.push(missing_value(rest, empty));
            }
            let length = list.len();
            let Some(item) = list.get_mut(at) else {
                anyhow::bail!("there is no item `{at}`, but {length}");
            };
            return self.visit_path(item, rest);
        }
        if part == "*" {
            let list = expect_list(value, part)?;
            self.budget.count_items(list.len())?;
            return list.iter_mut().try_fold(0, |n, item| Ok(n + self.visit_path(item, rest)?));
        }
        if let Some(item) = parse_item(part) {
            return self.visit_items(expect_list(value, part)?, item?, rest);
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
        let count = self.visit_path(field, rest)?;
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
            let text = value.and_then(scalar_text);
            text.map_or(Ok(false), |text| pattern.is_match(&text, budget))
        };
        budget.count_items(list.len())?;
        let rest = if field.is_empty() { &[] } else { rest };
        let mut count = 0;
        for item in list.iter_mut() {
            if is(item)? {
                count += self.visit_path(item, rest)?;
            }
        }
        if count > 0 || self.empty.is_none() {
            return Ok(count);
        }
        list.push(if field.is_empty() { wanted.into() } else { json!({ field: wanted }) });
        match list.last_mut() {
            Some(item) if is(item)? => self.visit_path(item, rest),
            _ => anyhow::bail!("`{wanted}` is a pattern, so no item can be created from it"),
        }
    }
}

/// Returns the value to create for the rest of a path.
fn missing_value(rest: &[String], empty: &Value) -> Value {
    match rest.first() {
        None => empty.clone(),
        Some(next) if next.parse::<usize>().is_ok() || parse_item(next).is_some() => json!([]),
        Some(_) => json!({}),
    }
}

fn expect_list<'v>(value: &'v mut Value, part: &str) -> anyhow::Result<&'v mut Vec<Value>> {
    match value {
        Value::Array(list) => Ok(list),
        _ => anyhow::bail!("`{part}` cannot be looked up: this is not a list"),
    }
}
