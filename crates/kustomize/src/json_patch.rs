//! RFC 6902, in the dialect of the library that kustomize uses.

use super::budget::Budget;
use diagnostics::Hint as _;
use go_data::yaml::{self, Value};

#[derive(Debug, Clone)]
pub struct Operation {
    kind: Kind,
    path: Vec<String>,
    /// As it was written, for messages.
    shown: String,
}

#[derive(Debug, Clone)]
enum Kind {
    Add(Value),
    Replace(Value),
    Test(Value),
    Remove,
    Copy(Vec<String>),
    Move(Vec<String>),
}

/// Parses the operations of a list.
pub fn parse(list: &[Value]) -> anyhow::Result<Vec<Operation>> {
    let each = list.iter().enumerate().map(|(at, it)| {
        operation(it).map_err(|error| anyhow::format_err!("operation {}: {error}", at + 1))
    });
    each.collect()
}

fn operation(value: &Value) -> anyhow::Result<Operation> {
    let Value::Object(map) = value else { anyhow::bail!("this is not an operation") };
    let text = |key: &str| {
        map.get(key).and_then(Value::as_str).ok_or_else(|| anyhow::format_err!("it has no `{key}`"))
    };
    if let Some(key) = map.keys().find(|it| !["op", "path", "value", "from"].contains(&it.as_str()))
    {
        anyhow::bail!("`{key}` is not a field of an operation");
    }
    let value = || {
        map.get("value").cloned().map(whole).ok_or_else(|| {
            anyhow::format_err!(
                "it has no `value`, so kustomize would write `null`: add `value`, with `null` if you mean it"
            )
        })
    };
    let kind = match text("op")? {
        "add" => Kind::Add(value()?),
        "replace" => Kind::Replace(value()?),
        "test" => Kind::Test(value()?),
        "remove" => Kind::Remove,
        "copy" => Kind::Copy(pointer(text("from")?)?),
        "move" => Kind::Move(pointer(text("from")?)?),
        other => anyhow::bail!("`{other}` is not an operation"),
    };
    let shown = text("path")?.to_owned();
    let path = match kind {
        Kind::Replace(_) | Kind::Test(_) if shown.is_empty() => Vec::new(),
        _ => pointer(&shown)?,
    };
    Ok(Operation { kind, path, shown })
}

/// Go writes 1.0 as 1.
fn whole(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(whole).collect(),
        Value::Object(map) => map.into_iter().map(|(key, it)| (key, whole(it))).collect(),
        Value::Number(it) => {
            let text = it.to_string();
            let number = text.strip_suffix(".0").and_then(|it| it.parse::<i64>().ok());
            number.map_or(Value::Number(it), Value::from)
        }
        value => value,
    }
}

fn pointer(text: &str) -> anyhow::Result<Vec<String>> {
    let Some(rest) = text.strip_prefix('/') else {
        anyhow::bail!("the path `{text}` does not start with `/`");
    };
    Ok(rest.split('/').map(yaml::pointer::unescaped).collect())
}

pub fn apply(
    document: &mut Value,
    operations: &[Operation],
    budget: &Budget,
) -> anyhow::Result<()> {
    let add = |document: &mut Value, path: &[String], value: Value| {
        budget.take_value(&value, path.len())?;
        add(document, path, value, budget)
    };
    let remove = |document: &mut Value, path: &[String]| remove(document, path, budget);
    for Operation { kind, path, shown } in operations {
        budget.look_at_items(1 + path.len())?;
        let done = match kind {
            Kind::Add(value) => add(document, path, value.clone()),
            Kind::Remove => remove(document, path).map(drop),
            Kind::Replace(value) => budget
                .take_value(value, path.len())
                .and_then(|()| replace(document, path, value.clone())),
            Kind::Test(value) => {
                budget.look_through(value).and_then(|()| test(document, path, value))
            }
            Kind::Copy(from) => get(document, from).cloned().and_then(|it| add(document, path, it)),
            Kind::Move(from) => remove(document, from).and_then(|it| add(document, path, it)),
        };
        done.map_err(|it| it.context(format!("the JSON patch cannot be applied at `{shown}`")))?;
    }
    exact(document)
}

fn get<'v>(mut value: &'v mut Value, path: &[String]) -> anyhow::Result<&'v mut Value> {
    for key in path {
        let found = match value {
            Value::Object(map) => map.get_mut(key),
            Value::Array(list) => {
                let at = index(key, list.len(), list.len())?;
                list.get_mut(at)
            }
            _ => None,
        };
        value = found.ok_or_else(|| anyhow::format_err!("there is no `{key}`"))?;
    }
    Ok(value)
}

fn add(document: &mut Value, path: &[String], value: Value, budget: &Budget) -> anyhow::Result<()> {
    let Some((key, parent)) = path.split_last() else { anyhow::bail!("the path is empty") };
    match get(document, parent)? {
        Value::Object(map) => drop(map.insert(key.clone(), value)),
        Value::Array(list) if key == "-" => list.push(value),
        Value::Array(list) => {
            let at = index(key, list.len() + 1, list.len() + 1)?;
            budget.move_items(list.len() - at)?;
            list.insert(at, value);
        }
        _ => anyhow::bail!("the parent is neither a map nor a list"),
    }
    Ok(())
}

/// A missing entry of a map is added.
fn replace(document: &mut Value, path: &[String], value: Value) -> anyhow::Result<()> {
    let Some((key, parent)) = path.split_last() else {
        *document = value;
        return Ok(());
    };
    match get(document, parent)? {
        Value::Object(map) => drop(map.insert(key.clone(), value)),
        parent => *get(parent, std::slice::from_ref(key))? = value,
    }
    Ok(())
}

/// A missing entry of a map is `null`.
fn test(document: &mut Value, path: &[String], value: &Value) -> anyhow::Result<()> {
    let found = match path.split_last() {
        None => document,
        Some((key, parent)) => match get(document, parent)? {
            Value::Object(map) => map.get(key).unwrap_or(&Value::Null),
            parent => get(parent, std::slice::from_ref(key))?,
        },
    };
    if found != value {
        anyhow::bail!("the test fails: it is {found}");
    }
    Ok(())
}

fn remove(document: &mut Value, path: &[String], budget: &Budget) -> anyhow::Result<Value> {
    let Some((key, parent)) = path.split_last() else { anyhow::bail!("the path is empty") };
    match get(document, parent)? {
        Value::Object(map) => {
            map.remove(key).ok_or_else(|| anyhow::format_err!("there is no `{key}`"))
        }
        Value::Array(list) => {
            let at = index(key, list.len(), list.len())?;
            budget.move_items(list.len() - at)?;
            Ok(list.remove(at))
        }
        _ => anyhow::bail!("there is no `{key}`"),
    }
}

/// An index below `bound`; a negative one counts from the end.
fn index(key: &str, bound: usize, end: usize) -> anyhow::Result<usize> {
    let at: Option<i64> = key.parse().ok();
    at.and_then(|at| match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) => end.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
    })
    .filter(|it| *it < bound)
    .ok_or_else(|| anyhow::format_err!("there is no item `{key}`"))
}

/// Go's JSON reads every number of the object as a float.
fn exact(value: &Value) -> anyhow::Result<()> {
    const MOST: u64 = 1 << 53;
    match value {
        Value::Array(items) => items.iter().try_for_each(exact),
        Value::Object(map) => map.values().try_for_each(exact),
        Value::Number(it)
            if it.as_u64().is_some_and(|it| it > MOST)
                || it.as_i64().is_some_and(|it| it.unsigned_abs() > MOST) =>
        {
            Err(anyhow::format_err!(
                "kustomize would round {it} to a float, here or in any other JSON patch"
            ))
            .hint("write it as a string, or patch with a strategic merge")
        }
        _ => Ok(()),
    }
}
