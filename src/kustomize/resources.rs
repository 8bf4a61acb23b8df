//! What a kustomization lists: files with objects, and folders with kustomizations.

use super::{
    WAY_OUT,
    load::{self, Kustomization, Text},
    object::Object,
};
use crate::{
    hint::Hint as _,
    model::ProjectPath,
    plan::{self, Tree},
    yaml::{Data, Dialect, Node, Value},
};

pub enum Found {
    File(ProjectPath),
    Folder(ProjectPath),
}

/// What a line of `resources` or `components` leads to.
pub fn find(tree: &impl Tree, of: &Kustomization, item: &Text) -> anyhow::Result<Found> {
    let text = item.text.as_str();
    let remote = text.contains("://") || text.contains("?ref=") || text.starts_with("git@");
    if remote || text.starts_with("github.com/") {
        return Err(of.problem(item.mark, &format!("`{text}` is remote, and nothing is fetched")))
            .hint("copy it into the project, or ".to_owned() + WAY_OUT);
    }
    let path = join(of, item)?;
    match tree.look(&path)? {
        plan::Found::Text(_) => {
            if !path.is_in(&of.folder) {
                return Err(of.problem(item.mark, &format!("{path} is outside of {}", of.folder)))
                    .hint("kustomize takes files of the kustomization's own folder only: list the folder that it is in");
            }
            Ok(Found::File(path))
        }
        _ if load::is_kustomization(tree, &path)? => Ok(Found::Folder(path)),
        plan::Found::Nothing if tree.list(&path)?.is_empty() => {
            Err(of.problem(item.mark, &format!("there is no {path}")))
        }
        plan::Found::Other(what) if tree.list(&path)?.is_empty() => {
            Err(of.problem(item.mark, &format!("{path} cannot be read: {what}")))
        }
        _ => Err(of.problem(item.mark, &format!("{path} has no kustomization.yaml"))),
    }
}

/// The text of a file that a kustomization names.
pub fn text(
    tree: &impl Tree,
    of: &Kustomization,
    item: &Text,
) -> anyhow::Result<(ProjectPath, String)> {
    let path = join(of, item)?;
    if !path.is_in(&of.folder) {
        return Err(of.problem(item.mark, &format!("{path} is outside of {}", of.folder)))
            .hint("kustomize takes files of the kustomization's own folder only");
    }
    match tree.read(&path)? {
        Some(text) => Ok((path, text)),
        None => Err(of.problem(item.mark, &format!("there is no {path}"))),
    }
}

fn join(of: &Kustomization, item: &Text) -> anyhow::Result<ProjectPath> {
    if item.text.starts_with('/') {
        return Err(of.problem(item.mark, &format!("`{}` is not relative", item.text)));
    }
    of.folder.join(&item.text).map_err(|it| of.problem(item.mark, &it.to_string()))
}

/// Every object of a file; lists of objects are taken apart.
pub fn read(tree: &impl Tree, path: &ProjectPath) -> anyhow::Result<Vec<Object>> {
    let text = tree.read(path)?.unwrap_or_default();
    objects(path, &text)
}

pub fn objects(path: &ProjectPath, text: &str) -> anyhow::Result<Vec<Object>> {
    let mut queue: std::collections::VecDeque<Node> =
        load::nodes(path, text, Dialect::Kustomize)?.into();
    let mut res = Vec::new();
    while let Some(node) = queue.pop_front() {
        if matches!(&node.data, Data::Map(entries) if entries.is_empty()) {
            continue;
        }
        check(path, &node)?;
        let list = node.get("kind").and_then(Node::as_str).is_some_and(|it| it.ends_with("List"));
        match node.get("items").filter(|_| list).map(|it| &it.data) {
            Some(Data::List(items)) => queue.extend(items.iter().cloned()),
            Some(Data::Scalar(Value::Null)) => {}
            Some(_) => return Err(at(path, &node, "the `items` of this are no list")),
            None => res.push(Object::new(node.into_value(), path.clone())),
        }
    }
    Ok(res)
}

fn check(path: &ProjectPath, node: &Node) -> anyhow::Result<()> {
    let Data::Map(_) = node.data else {
        return Err(at(
            path,
            node,
            &format!("this is {}, where an object is expected", node.what()),
        ));
    };
    let kind = match node.get("kind") {
        None => return Err(at(path, node, "this object has no `kind`")),
        Some(it) => it
            .as_str()
            .filter(|it| !it.is_empty())
            .ok_or_else(|| at(path, it, "this is no kind"))?,
    };
    if let Some(it) = node.get("apiVersion")
        && it.as_str().is_none()
    {
        return Err(at(path, it, "this is no apiVersion"));
    }
    let metadata = node.get("metadata");
    for key in ["name", "namespace"] {
        match metadata.and_then(|it| it.get(key)) {
            Some(it) if it.as_str().is_none() => {
                return Err(at(
                    path,
                    it,
                    &format!("this is {}, where a string is expected", it.what()),
                ))
                .hint("write it in quotes");
            }
            _ => {}
        }
    }
    let name = metadata.and_then(|it| it.get("name")).and_then(Node::as_str).unwrap_or_default();
    if name.is_empty() && !kind.ends_with("List") {
        return Err(at(path, node, "this object has no `metadata.name`"));
    }
    Ok(())
}

fn at(path: &ProjectPath, node: &Node, message: &str) -> anyhow::Error {
    anyhow::format_err!("{path}:{}:{}: {message}", node.mark.line, node.mark.column)
}
