//! RFC 6902, in the dialect of the library that kustomize uses.

use super::budget::Budget;
use diagnostics::Hint as _;
use go_data::yaml::{self, Value};

#[derive(Debug, Clone)]
pub struct Operation {
    action: Action,
    path: Vec<String>,
    /// The path as the user wrote it, for messages.
    written_path: String,
}

#[derive(Debug, Clone)]
enum Action {
    Add(Value),
    Replace(Value),
    Test(Value),
    Remove,
    Copy(Vec<String>),
    Move(Vec<String>),
}

/// Parses the operations of a list.
pub fn parse_operations(list: &[Value]) -> anyhow::Result<Vec<Operation>> {
    let each = list.iter().enumerate().map(|(at, value)| {
        parse_operation(value).map_err(|error| anyhow::format_err!("operation {}: {error}", at + 1))
    });
    each.collect()
}

fn parse_operation(value: &Value) -> anyhow::Result<Operation> {
    let Value::Object(map) = value else { anyhow::bail!("this is not an operation") };
    let text = |key: &str| {
        map.get(key).and_then(Value::as_str).ok_or_else(|| anyhow::format_err!("it has no `{key}`"))
    };
    if let Some(key) =
        map.keys().find(|key| !["op", "path", "value", "from"].contains(&key.as_str()))
    {
        anyhow::bail!("`{key}` is not a field of an operation");
    }
    let value = || {
        map.get("value").cloned().map(normalize_numbers).ok_or_else(|| {
            anyhow::format_err!(
                "it has no `value`, so kustomize would write `null`: add `value`, with `null` if you mean it"
            )
        })
    };
    let action = match text("op")? {
        "add" => Action::Add(value()?),
        "replace" => Action::Replace(value()?),
        "test" => Action::Test(value()?),
        "remove" => Action::Remove,
        "copy" => Action::Copy(parse_pointer(text("from")?)?),
        "move" => Action::Move(parse_pointer(text("from")?)?),
        other => anyhow::bail!("`{other}` is not an operation"),
    };
    let written_path = text("path")?.to_owned();
    let path = match action {
        Action::Replace(_) | Action::Test(_) if written_path.is_empty() => Vec::new(),
        _ => parse_pointer(&written_path)?,
    };
    Ok(Operation { action, path, written_path })
}

/// Converts numbers such as 1.0 to integers: Go writes them so.
fn normalize_numbers(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(normalize_numbers).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (key, normalize_numbers(value))).collect()
        }
        Value::Number(number) => {
            let text = number.to_string();
            let integer = text.strip_suffix(".0").and_then(|digits| digits.parse::<i64>().ok());
            integer.map_or(Value::Number(number), Value::from)
        }
        value => value,
    }
}

fn parse_pointer(text: &str) -> anyhow::Result<Vec<String>> {
    let Some(rest) = text.strip_prefix('/') else {
        anyhow::bail!("the path `{text}` does not start with `/`");
    };
    Ok(rest.split('/').map(yaml::pointer::unescape_key).collect())
}

pub fn apply_operations(
    document: &mut Value,
    operations: &[Operation],
    budget: &Budget,
) -> anyhow::Result<()> {
    let add_value = |document: &mut Value, path: &[String], value: Value| {
        budget.take_value(&value, path.len())?;
        add_value(document, path, value, budget)
    };
    let remove_value = |document: &mut Value, path: &[String]| remove_value(document, path, budget);
    for Operation { action, path, written_path } in operations {
        budget.count_items(1 + path.len())?;
        let done = match action {
            Action::Add(value) => add_value(document, path, value.clone()),
            Action::Remove => remove_value(document, path).map(drop),
            Action::Replace(value) => budget
                .take_value(value, path.len())
                .and_then(|()| replace_value(document, path, value.clone())),
            Action::Test(value) => {
                budget.count_value(value).and_then(|()| test_value(document, path, value))
            }
            Action::Copy(from) => resolve_path(document, from)
                .cloned()
                .and_then(|value| add_value(document, path, value)),
            Action::Move(from) => {
                remove_value(document, from).and_then(|value| add_value(document, path, value))
            }
        };
        done.map_err(|error| {
            error.context(format!("the JSON patch cannot be applied at `{written_path}`"))
        })?;
    }
    refuse_large_numbers(document)
}

fn resolve_path<'v>(mut value: &'v mut Value, path: &[String]) -> anyhow::Result<&'v mut Value> {
    for key in path {
        let found = match value {
            Value::Object(map) => map.get_mut(key),
            Value::Array(list) => {
                let at = parse_index(key, list.len(), list.len())?;
                list.get_mut(at)
            }
            _ => None,
        };
        value = found.ok_or_else(|| anyhow::format_err!("there is no `{key}`"))?;
    }
    Ok(value)
}

fn add_value(
    document: &mut Value,
    path: &[String],
    value: Value,
    budget: &Budget,
) -> anyhow::Result<()> {
    let Some((key, parent)) = path.split_last() else { anyhow::bail!("the path is empty") };
    match resolve_path(document, parent)? {
        Value::Object(map) => drop(map.insert(key.clone(), value)),
        Value::Array(list) if key == "-" => list.push(value),
        Value::Array(list) => {
            let at = parse_index(key, list.len() + 1, list.len() + 1)?;
            budget.count_moves(list.len() - at)?;
            list.insert(at, value);
        }
        _ => anyhow::bail!("the parent is neither a map nor a list"),
    }
    Ok(())
}

/// Replaces the value at a path; a missing entry of a map is added.
fn replace_value(document: &mut Value, path: &[String], value: Value) -> anyhow::Result<()> {
    let Some((key, parent)) = path.split_last() else {
        *document = value;
        return Ok(());
    };
    match resolve_path(document, parent)? {
        Value::Object(map) => drop(map.insert(key.clone(), value)),
        parent => *resolve_path(parent, std::slice::from_ref(key))? = value,
    }
    Ok(())
}

/// Compares the value at a path; a missing entry of a map is `null`.
fn test_value(document: &mut Value, path: &[String], value: &Value) -> anyhow::Result<()> {
    let found = match path.split_last() {
        None => document,
        Some((key, parent)) => match resolve_path(document, parent)? {
            Value::Object(map) => map.get(key).unwrap_or(&Value::Null),
            parent => resolve_path(parent, std::slice::from_ref(key))?,
        },
    };
    if found != value {
        anyhow::bail!("the test fails: it is {found}");
    }
    Ok(())
}

fn remove_value(document: &mut Value, path: &[String], budget: &Budget) -> anyhow::Result<Value> {
    let Some((key, parent)) = path.split_last() else { anyhow::bail!("the path is empty") };
    match resolve_path(document, parent)? {
        Value::Object(map) => {
            map.remove(key).ok_or_else(|| anyhow::format_err!("there is no `{key}`"))
        }
        Value::Array(list) => {
            let at = parse_index(key, list.len(), list.len())?;
            budget.count_moves(list.len() - at)?;
            Ok(list.remove(at))
        }
        _ => anyhow::bail!("there is no `{key}`"),
    }
}

/// Parses an index below `bound`; a negative one counts from the end.
fn parse_index(key: &str, bound: usize, end: usize) -> anyhow::Result<usize> {
    let at: Option<i64> = key.parse().ok();
    at.and_then(|at| match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) => end.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
    })
    .filter(|index| *index < bound)
    .ok_or_else(|| anyhow::format_err!("there is no item `{key}`"))
}

/// Refuses integers that a float cannot hold: Go's JSON reads every number of the object as a float.
fn refuse_large_numbers(value: &Value) -> anyhow::Result<()> {
    const MOST: u64 = 1 << 53;
    match value {
        Value::Array(items) => items.iter().try_for_each(refuse_large_numbers),
        Value::Object(map) => map.values().try_for_each(refuse_large_numbers),
        Value::Number(number)
            if number.as_u64().is_some_and(|n| n > MOST)
                || number.as_i64().is_some_and(|n| n.unsigned_abs() > MOST) =>
        {
            Err(anyhow::format_err!(
                "kustomize would round {number} to a float, here or in any other JSON patch"
            ))
            .hint("write it as a string, or patch with a strategic merge")
        }
        _ => Ok(()),
    }
}
