//! The file and the line that an object was read from.

use std::collections::BTreeMap;

use go_data::yaml::{self, Dialect, Node};
use kustomize::Rendered;
use model::{ProjectPath, Tree};
use olm::bundle::Origin;

/// The places of rendered objects, in their order. An object without a document of its own, such
/// as a generated one, has no line.
pub fn of_rendered(tree: &impl Tree, rendered: &[Rendered]) -> anyhow::Result<Vec<Origin>> {
    let mut files: BTreeMap<&ProjectPath, Vec<Node>> = BTreeMap::new();
    for Rendered { origin, .. } in rendered {
        if !files.contains_key(origin) {
            let text = tree.read(origin)?.unwrap_or_default();
            files.insert(origin, yaml::nodes(&text, Dialect::Kustomize).unwrap_or_default());
        }
    }
    let origin = |it: &Rendered| {
        let mut documents = files.get(&it.origin).into_iter().flatten().filter(|node| {
            let name = node.get("metadata").and_then(|it| it.get("name"));
            name.and_then(Node::as_str) == Some(&it.original_name)
                && node.get("kind").and_then(Node::as_str) == it.value["kind"].as_str()
        });
        // Two of one name differ in what a kustomization may have changed.
        let line = documents.next().map(|it| it.mark.line);
        let line = line.filter(|_| documents.next().is_none());
        Origin { file: it.origin.to_string(), line }
    };
    Ok(rendered.iter().map(origin).collect())
}

/// The place of a document of a stream.
pub fn of_document(name: &str, node: &Node) -> Origin {
    Origin { file: name.to_owned(), line: Some(node.mark.line) }
}
