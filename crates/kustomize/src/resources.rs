//! The resources of a kustomization: files with objects, and folders with kustomizations.

use std::collections::VecDeque;

use super::{
    WAY_OUT,
    budget::Budget,
    kustomization::{Kustomization, Text},
    load,
    named_files::{MISSING, join_path},
    object::Object,
    origin::Origin,
    share,
};
use anyhow::Context as _;
use diagnostics::Hint as _;
use go_data::yaml::{Data, Dialect, Entry, Map, Node, Value};
use model::{ProjectPath, Tree};

/// The file or folder that an entry refers to.
pub enum Resource {
    File(ProjectPath),
    Folder(ProjectPath),
}

/// Resolves an entry of `resources` or `components`.
pub fn resolve_resource(
    tree: &impl Tree,
    kustomization: &Kustomization,
    item: &Text,
) -> anyhow::Result<Resource> {
    let text = item.text.as_str();
    let remote = text.contains("://") || text.contains("?ref=") || text.starts_with("git@");
    if remote || text.starts_with("github.com/") {
        return Err(kustomization.error_at(
            item.mark,
            &format!("`{text}` is a URL, and operator-rs downloads no resources"),
        ))
        .hint("copy it into the project, or ".to_owned() + WAY_OUT);
    }
    let path = join_path(kustomization, item)?;
    match tree.read_content(&path)? {
        model::FileContent::Text(_) => {
            if !path.is_in(&kustomization.folder) {
                let message = format!("{path} is outside of {}", kustomization.folder);
                return Err(kustomization.error_at(item.mark, &message))
                    .hint("kustomize reads files only from the kustomization's own directory: list the directory that contains it");
            }
            Ok(Resource::File(path))
        }
        _ if load::has_kustomization(tree, &path)? => Ok(Resource::Folder(path)),
        model::FileContent::Nothing if tree.list_files(&path)?.is_empty() => {
            Err(kustomization.error_at(item.mark, &format!("there is no {path}"))).hint(MISSING)
        }
        model::FileContent::Other(what) if tree.list_files(&path)?.is_empty() => {
            let (message, hint) = match tree.read_text(&path) {
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
            Err(kustomization.error_at(item.mark, &message)).hint(hint)
        }
        _ if load::NAMES.iter().any(|name| has_file(tree, &path, name)) => {
            let message = format!("{path} is reached through a symlink, which is not followed");
            Err(kustomization.error_at(item.mark, &message))
                .hint("list the directory that it leads to")
        }
        _ => Err(kustomization.error_at(item.mark, &format!("{path} has no kustomization.yaml")))
            .hint(MISSING),
    }
}

/// Returns true if a folder has a file or a symlink to one.
fn has_file(tree: &impl Tree, folder: &ProjectPath, name: &str) -> bool {
    let file = folder.join(name).ok().and_then(|file| tree.read_bytes(&file).ok());
    file.flatten().is_some()
}

/// Reads all objects of a file; lists of objects become their items.
pub fn read_objects(
    tree: &impl Tree,
    path: &ProjectPath,
    budget: &Budget,
) -> anyhow::Result<Vec<Object>> {
    let text = tree.read_text(path)?.unwrap_or_default();
    let origin = Origin { path, text: &text, field: None };
    let all = collect_objects(&origin, origin.parse_nodes(&text, Dialect::Kustomize)?, budget)?;
    let sizes = all.iter().try_for_each(|object| budget.take_value(&object.value, 0));
    sizes.with_context(|| path.to_string())?;
    Ok(all.into_iter().map(Object::without_null_annotations).collect())
}

pub fn collect_objects(
    origin: &Origin<'_>,
    nodes: Vec<Node>,
    budget: &Budget,
) -> anyhow::Result<Vec<Object>> {
    let mut queue: VecDeque<(Node, bool)> = nodes.into_iter().map(|node| (node, true)).collect();
    let mut objects = Vec::new();
    while let Some((node, alone)) = queue.pop_front() {
        if matches!(&node.data, Data::Map(entries) if entries.is_empty()) {
            continue;
        }
        check_object(origin, &node)?;
        let list =
            node.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("List"));
        match node.get("items").filter(|_| list).map(|items| &items.data) {
            Some(Data::List(items)) => queue.extend(items.iter().map(|node| (node.clone(), false))),
            Some(Data::Scalar(Value::Null)) => {}
            Some(_) => return Err(error_at_node(origin, &node, "its `items` are not a list")),
            None => {
                let mark = node.mark;
                // Items of a list are printed again by kustomize, including nulls.
                let value = if alone { value_with_notes(node) } else { node.into_value() };
                let mut object = Object::new(value, origin.path.clone(), budget);
                object.knows_quotes = alone;
                if !object.has_sound_history() {
                    let message = "kustomize's own annotations of this object are inconsistent";
                    return Err(origin.error_at(mark, message, Some("remove them")));
                }
                objects.push(object);
            }
        }
    }
    Ok(objects)
}

/// Returns the value, with notes of the scalars that JSON would spell in another way.
fn value_with_notes(node: Node) -> Value {
    match node.data {
        Data::Scalar(value) => value,
        Data::List(items) => items.into_iter().map(value_with_notes).collect(),
        Data::Map(entries) => {
            let mut map = Map::new();
            for Entry { key, value, .. } in entries {
                if value.is_quoted {
                    share::note_quotes(&mut map, &key);
                } else if let Some(spelling) = &value.spelling {
                    share::note_spelling(&mut map, &key, spelling);
                }
                map.insert(key, value_with_notes(value));
            }
            Value::Object(map)
        }
    }
}

fn check_object(origin: &Origin<'_>, node: &Node) -> anyhow::Result<()> {
    let Data::Map(_) = node.data else {
        let message = format!("this is {}, where an object is expected", node.type_name());
        return Err(error_at_node(origin, node, &message));
    };
    let kind = match node.get("kind") {
        None => return Err(error_at_node(origin, node, "this object has no `kind`")),
        Some(kind) => kind
            .as_str()
            .filter(|kind| !kind.is_empty())
            .ok_or_else(|| error_at_node(origin, kind, "this is not a valid kind"))?,
    };
    if let Some(api_version) = node.get("apiVersion")
        && api_version.as_str().is_none()
    {
        return Err(error_at_node(origin, api_version, "this is not a valid apiVersion"));
    }
    let metadata = node.get("metadata");
    for key in ["name", "namespace"] {
        match metadata.and_then(|metadata| metadata.get(key)) {
            Some(value) if value.is_null() && key == "namespace" => {}
            Some(value) if value.as_str().is_none() => {
                let message = format!("this is {}, where a string is expected", value.type_name());
                return Err(origin.error_at(value.mark, &message, Some("write it in quotes")));
            }
            _ => {}
        }
    }
    let name = metadata
        .and_then(|metadata| metadata.get("name"))
        .and_then(Node::as_str)
        .unwrap_or_default();
    if name.is_empty() && !kind.ends_with("List") {
        return Err(error_at_node(origin, node, "this object has no `metadata.name`"));
    }
    Ok(())
}

fn error_at_node(origin: &Origin<'_>, node: &Node, message: &str) -> anyhow::Error {
    origin.error_at(node.mark, message, None)
}
