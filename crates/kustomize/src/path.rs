//! Field paths as replacements write them: `spec.containers.[name=web].ports.0`, `a.*.b`.

use super::{fields, pattern, share};
use go_data::yaml::{Map, Value, json};

/// The parts of a path; a point in brackets or after a backslash belongs to its part.
pub fn split(path: &str) -> Vec<String> {
    let mut res: Vec<String> = Vec::new();
    let mut open: Option<String> = None;
    for part in fields::split(path, '.') {
        let all = match open.take() {
            Some(start) => format!("{start}.{part}"),
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
pub fn spelling<'v>(value: &'v Value, path: &[String]) -> Option<&'v str> {
    let (key, parent) = path.split_last()?;
    share::spelling(get(value, parent).ok()??.as_object()?, key)
}

/// The value at a path.
pub fn get<'v>(mut value: &'v Value, path: &[String]) -> anyhow::Result<Option<&'v Value>> {
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
                list()?.iter().find(is)
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

type Set<'a> = &'a mut dyn FnMut(&mut Value) -> anyhow::Result<()>;

/// Calls `set` on all that a path leads to, and counts it. What is missing is made where there is an `empty`, which
/// stands at the end of the path.
pub fn visit(
    value: &mut Value,
    path: &[String],
    empty: Option<&Value>,
    set: Set<'_>,
) -> anyhow::Result<usize> {
    let Some((part, rest)) = path.split_first() else {
        set(value)?;
        return Ok(1);
    };
    if !value.is_array() && !value.is_object() && !value.is_null() {
        anyhow::bail!("the path continues inside a string, at `{part}`, which is not supported");
    }
    if let Ok(at) = part.parse::<usize>() {
        let list = list(value, part)?;
        if let (true, Some(empty)) = (at == list.len(), empty) {
            list.push(missing_value(rest, empty));
        }
        let length = list.len();
        let Some(item) = list.get_mut(at) else {
            anyhow::bail!("there is no item `{at}`, but {length}");
        };
        return visit(item, rest, empty, set);
    }
    if part == "*" {
        return list(value, part)?
            .iter_mut()
            .try_fold(0, |n, it| Ok(n + visit(it, rest, empty, set)?));
    }
    if let Some(item) = item(part) {
        let (field, wanted) = item?;
        return items(list(value, part)?, (field, wanted), rest, empty, set);
    }
    match value {
        Value::Object(map) => entry(map, part, rest, empty, set),
        Value::Null if empty.is_none() => Ok(0),
        _ => anyhow::bail!("`{part}` cannot be looked up: this is not a map"),
    }
}

fn entry(
    map: &mut Map<String, Value>,
    key: &str,
    rest: &[String],
    empty: Option<&Value>,
    set: Set<'_>,
) -> anyhow::Result<usize> {
    if let (Some(empty), false) = (empty, map.contains_key(key)) {
        map.insert(key.to_owned(), missing_value(rest, empty));
    }
    let Some(field) = map.get_mut(key) else { return Ok(0) };
    let count = visit(field, rest, empty, set)?;
    if rest.is_empty() {
        let new = field.clone();
        share::note_change(map, key, Some(&new));
    }
    Ok(count)
}

fn items(
    list: &mut Vec<Value>,
    (field, wanted): (&str, &str),
    rest: &[String],
    empty: Option<&Value>,
    set: Set<'_>,
) -> anyhow::Result<usize> {
    let pattern = pattern::compile(wanted)
        .map_err(|it| anyhow::format_err!("`{wanted}` is not a regular expression: {it}"))?;
    let is = |it: &Value| {
        let value = if field.is_empty() { Some(it) } else { it.get(field) };
        value.and_then(text).is_some_and(|it| pattern.is_match(&it))
    };
    let mut count = 0;
    for it in list.iter_mut().filter(|it| is(it)) {
        count += match field {
            "" => {
                set(it)?;
                1
            }
            _ => visit(it, rest, empty, set)?,
        };
    }
    if count > 0 || empty.is_none() {
        return Ok(count);
    }
    list.push(if field.is_empty() { wanted.into() } else { json!({ field: wanted }) });
    match list.last_mut() {
        Some(it) if is(it) => visit(it, if field.is_empty() { &[] } else { rest }, empty, set),
        _ => anyhow::bail!("`{wanted}` is a pattern, so no item can be created from it"),
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
