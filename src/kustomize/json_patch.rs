//! RFC 6902, in the dialect of the library that kustomize uses.

use crate::yaml::Value;

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

/// The operations of a list, or what is wrong with one of them.
pub fn parse(list: &[Value]) -> anyhow::Result<Vec<Operation>> {
    list.iter()
        .enumerate()
        .map(|(at, it)| {
            operation(it).map_err(|error| anyhow::format_err!("operation {}: {error}", at + 1))
        })
        .collect()
}

fn operation(value: &Value) -> anyhow::Result<Operation> {
    let Value::Object(map) = value else { anyhow::bail!("this is no operation") };
    let text = |key: &str| {
        map.get(key).and_then(Value::as_str).ok_or_else(|| anyhow::format_err!("it has no `{key}`"))
    };
    if let Some(key) = map.keys().find(|it| !["op", "path", "value", "from"].contains(&it.as_str()))
    {
        anyhow::bail!("`{key}` is not a field of an operation");
    }
    let value =
        || map.get("value").cloned().ok_or_else(|| anyhow::format_err!("it has no `value`"));
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
    Ok(Operation { kind, path: pointer(&shown)?, shown })
}

fn pointer(text: &str) -> anyhow::Result<Vec<String>> {
    let Some(rest) = text.strip_prefix('/') else {
        anyhow::bail!("the path `{text}` does not start with `/`");
    };
    Ok(rest.split('/').map(|it| it.replace("~1", "/").replace("~0", "~")).collect())
}

pub fn apply(document: &mut Value, operations: &[Operation]) -> anyhow::Result<()> {
    for Operation { kind, path, shown } in operations {
        let done = match kind {
            Kind::Add(value) => add(document, path, value.clone()),
            Kind::Remove => remove(document, path).map(drop),
            Kind::Replace(value) => get(document, path).map(|it| *it = value.clone()),
            Kind::Test(value) => get(document, path).and_then(|it| {
                if it == value {
                    Ok(())
                } else {
                    Err(anyhow::format_err!("the test fails: it is {it}"))
                }
            }),
            Kind::Copy(from) => get(document, from).cloned().and_then(|it| add(document, path, it)),
            Kind::Move(from) => remove(document, from).and_then(|it| add(document, path, it)),
        };
        done.map_err(|it| it.context(format!("the JSON patch does not apply at `{shown}`")))?;
    }
    Ok(())
}

fn get<'v>(mut value: &'v mut Value, path: &[String]) -> anyhow::Result<&'v mut Value> {
    for key in path {
        let found = match value {
            Value::Object(map) => map.get_mut(key),
            Value::Array(list) => {
                let at = index(key, list.len())?;
                list.get_mut(at)
            }
            _ => None,
        };
        value = found.ok_or_else(|| anyhow::format_err!("there is no `{key}`"))?;
    }
    Ok(value)
}

fn add(document: &mut Value, path: &[String], value: Value) -> anyhow::Result<()> {
    let Some((key, way)) = path.split_last() else { anyhow::bail!("the path is empty") };
    match get(document, way)? {
        Value::Object(map) => drop(map.insert(key.clone(), value)),
        Value::Array(list) if key == "-" => list.push(value),
        Value::Array(list) => {
            let at = index(key, list.len() + 1)?;
            list.insert(at, value);
        }
        _ => anyhow::bail!("there is no map and no list to add to"),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &[String]) -> anyhow::Result<Value> {
    let Some((key, way)) = path.split_last() else { anyhow::bail!("the path is empty") };
    match get(document, way)? {
        Value::Object(map) => {
            map.remove(key).ok_or_else(|| anyhow::format_err!("there is no `{key}`"))
        }
        Value::Array(list) => {
            let at = index(key, list.len())?;
            Ok(list.remove(at))
        }
        _ => anyhow::bail!("there is no `{key}`"),
    }
}

fn index(key: &str, len: usize) -> anyhow::Result<usize> {
    let at = if key.chars().all(|it| it.is_ascii_digit()) { key.parse().ok() } else { None };
    at.filter(|it| *it < len).ok_or_else(|| anyhow::format_err!("there is no item `{key}`"))
}
