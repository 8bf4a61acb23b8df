//! What a kustomization lists: files with objects, and folders with kustomizations.

use std::collections::VecDeque;

use super::{
    WAY_OUT,
    budget::Budget,
    load::{self, Kustomization, Origin, Text},
    object::Object,
    share,
};
use anyhow::Context as _;
use diagnostics::{Hint as _, utf8_text};
use go_data::yaml::{Data, Dialect, Entry, Map, Node, Value};
use model::{ProjectPath, Tree};

/// The hint for a path that leads to nothing.
const MISSING: &str = "restore it, or remove this entry";

pub enum Found {
    File(ProjectPath),
    Folder(ProjectPath),
}

/// What an entry of `resources` or `components` refers to.
pub fn find(tree: &impl Tree, of: &Kustomization, item: &Text) -> anyhow::Result<Found> {
    let text = item.text.as_str();
    let remote = text.contains("://") || text.contains("?ref=") || text.starts_with("git@");
    if remote || text.starts_with("github.com/") {
        return Err(of.problem(
            item.mark,
            &format!("`{text}` is a URL, and operator-rs downloads no resources"),
        ))
        .hint("copy it into the project, or ".to_owned() + WAY_OUT);
    }
    let path = join(of, item)?;
    match tree.look(&path)? {
        model::Found::Text(_) => {
            if !path.is_in(&of.folder) {
                return Err(of.problem(item.mark, &format!("{path} is outside of {}", of.folder)))
                    .hint("kustomize reads files only from the kustomization's own directory: list the directory that contains it");
            }
            Ok(Found::File(path))
        }
        _ if load::is_kustomization(tree, &path)? => Ok(Found::Folder(path)),
        model::Found::Nothing if tree.list(&path)?.is_empty() => {
            Err(of.problem(item.mark, &format!("there is no {path}"))).hint(MISSING)
        }
        model::Found::Other(what) if tree.list(&path)?.is_empty() => {
            let (message, hint) = match tree.read(&path) {
                // It can be read, but not as a file of the kustomization's own directory.
                Ok(Some(_)) => (
                    format!("{path} is reached through a symlink, which is not followed"),
                    "list the file that it leads to, or replace it with the file",
                ),
                Err(error) => (format!("{error:#}"), "list a YAML file of this directory instead"),
                Ok(None) => (
                    format!("{path} cannot be read: {what}"),
                    "list a YAML file of this directory instead",
                ),
            };
            Err(of.problem(item.mark, &message)).hint(hint)
        }
        _ if load::NAMES.iter().any(|it| has(tree, &path, it)) => {
            let message = format!("{path} is reached through a symlink, which is not followed");
            Err(of.problem(item.mark, &message)).hint("list the directory that it leads to")
        }
        _ => Err(of.problem(item.mark, &format!("{path} has no kustomization.yaml"))).hint(MISSING),
    }
}

/// Whether a folder has a file, or a symlink leads to one.
fn has(tree: &impl Tree, folder: &ProjectPath, name: &str) -> bool {
    let file = folder.join(name).ok().and_then(|it| tree.bytes(&it).ok());
    file.flatten().is_some()
}

/// The text of a file that a kustomization names.
pub fn text(
    tree: &impl Tree,
    of: &Kustomization,
    item: &Text,
) -> anyhow::Result<(ProjectPath, String)> {
    let (path, bytes) = bytes(tree, of, item)?;
    match utf8_text(&bytes) {
        Ok(text) => Ok((path, text.to_owned())),
        Err(problem) => Err(of.problem(item.mark, &format!("{path} cannot be read: {problem}"))),
    }
}

/// The bytes of a file that a kustomization names.
pub fn bytes(
    tree: &impl Tree,
    of: &Kustomization,
    item: &Text,
) -> anyhow::Result<(ProjectPath, Vec<u8>)> {
    let path = join(of, item)?;
    if !path.is_in(&of.folder) {
        return Err(of.problem(item.mark, &format!("{path} is outside of {}", of.folder)))
            .hint("kustomize reads files only from the kustomization's own directory");
    }
    match tree.bytes(&path)? {
        Some(bytes) => Ok((path, bytes)),
        None => Err(of.problem(item.mark, &format!("there is no {path}"))).hint(MISSING),
    }
}

fn join(of: &Kustomization, item: &Text) -> anyhow::Result<ProjectPath> {
    if item.text.starts_with('/') {
        return Err(of.problem(item.mark, &format!("`{}` is not relative", item.text)));
    }
    of.folder.join(&item.text).map_err(|it| of.problem(item.mark, &it.to_string()))
}

/// Every object of a file; lists of objects are taken apart.
pub fn read(tree: &impl Tree, path: &ProjectPath, budget: &Budget) -> anyhow::Result<Vec<Object>> {
    let text = tree.read(path)?.unwrap_or_default();
    let origin = Origin { path, text: &text, field: None };
    let all = objects(&origin, origin.nodes(&text, Dialect::Kustomize)?, budget)?;
    let sizes = all.iter().try_for_each(|it| budget.take_value(&it.value, 0));
    sizes.with_context(|| path.to_string())?;
    Ok(all.into_iter().map(Object::without_null_annotations).collect())
}

pub fn objects(
    origin: &Origin<'_>,
    nodes: Vec<Node>,
    budget: &Budget,
) -> anyhow::Result<Vec<Object>> {
    let mut queue: VecDeque<(Node, bool)> = nodes.into_iter().map(|it| (it, true)).collect();
    let mut res = Vec::new();
    while let Some((node, alone)) = queue.pop_front() {
        if matches!(&node.data, Data::Map(entries) if entries.is_empty()) {
            continue;
        }
        check(origin, &node)?;
        let list = node.get("kind").and_then(Node::as_str).is_some_and(|it| it.ends_with("List"));
        match node.get("items").filter(|_| list).map(|it| &it.data) {
            Some(Data::List(items)) => queue.extend(items.iter().map(|it| (it.clone(), false))),
            Some(Data::Scalar(Value::Null)) => {}
            Some(_) => return Err(at(origin, &node, "its `items` are not a list")),
            None => {
                let mark = node.mark;
                // Items of a list are printed again by kustomize, including nulls.
                let value = if alone { noted(node) } else { node.into_value() };
                let mut object = Object::new(value, origin.path.clone(), budget);
                object.knows_quotes = alone;
                if !object.has_sound_history() {
                    let message = "kustomize's own annotations of this object are inconsistent";
                    return Err(origin.problem(mark, message, Some("remove them")));
                }
                res.push(object);
            }
        }
    }
    Ok(res)
}

/// The value, with notes of what is not written as JSON would write it.
fn noted(node: Node) -> Value {
    match node.data {
        Data::Scalar(value) => value,
        Data::List(items) => items.into_iter().map(noted).collect(),
        Data::Map(entries) => {
            let mut map = Map::new();
            for Entry { key, value, .. } in entries {
                if value.is_quoted {
                    share::note_quotes(&mut map, &key);
                } else if let Some(spelling) = &value.spelling {
                    share::note_spelling(&mut map, &key, spelling);
                }
                map.insert(key, noted(value));
            }
            Value::Object(map)
        }
    }
}

fn check(origin: &Origin<'_>, node: &Node) -> anyhow::Result<()> {
    let Data::Map(_) = node.data else {
        let message = format!("this is {}, where an object is expected", node.what());
        return Err(at(origin, node, &message));
    };
    let kind = match node.get("kind") {
        None => return Err(at(origin, node, "this object has no `kind`")),
        Some(it) => it
            .as_str()
            .filter(|it| !it.is_empty())
            .ok_or_else(|| at(origin, it, "this is not a valid kind"))?,
    };
    if let Some(it) = node.get("apiVersion")
        && it.as_str().is_none()
    {
        return Err(at(origin, it, "this is not a valid apiVersion"));
    }
    let metadata = node.get("metadata");
    for key in ["name", "namespace"] {
        match metadata.and_then(|it| it.get(key)) {
            Some(it) if it.is_null() && key == "namespace" => {}
            Some(it) if it.as_str().is_none() => {
                let message = format!("this is {}, where a string is expected", it.what());
                return Err(origin.problem(it.mark, &message, Some("write it in quotes")));
            }
            _ => {}
        }
    }
    let name = metadata.and_then(|it| it.get("name")).and_then(Node::as_str).unwrap_or_default();
    if name.is_empty() && !kind.ends_with("List") {
        return Err(at(origin, node, "this object has no `metadata.name`"));
    }
    Ok(())
}

fn at(origin: &Origin<'_>, node: &Node, message: &str) -> anyhow::Error {
    origin.problem(node.mark, message, None)
}
