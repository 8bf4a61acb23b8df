//! The file and the line that an object was read from.

use std::collections::BTreeMap;

use go_data::yaml::{self, Dialect, Node};
use kustomize::Rendered;
use model::{ProjectPath, Tree};
use olm::bundle::ObjectOrigin;

/// Returns the origins of rendered objects, in their order. An object that is in no document, such
/// as a generated one, has no line.
pub fn of_rendered(tree: &impl Tree, rendered: &[Rendered]) -> anyhow::Result<Vec<ObjectOrigin>> {
    let mut files: BTreeMap<&ProjectPath, Vec<Node>> = BTreeMap::new();
    for Rendered { origin, .. } in rendered {
        if !files.contains_key(origin) {
            let text = tree.read_text(origin)?.unwrap_or_default();
            files.insert(origin, yaml::parse_nodes(&text, Dialect::Kustomize).unwrap_or_default());
        }
    }
    let origin = |object: &Rendered| {
        let mut documents = files.get(&object.origin).into_iter().flatten().filter(|node| {
            let name = node.get("metadata").and_then(|metadata| metadata.get("name"));
            name.and_then(Node::as_str) == Some(&object.original_name)
                && node.get("kind").and_then(Node::as_str) == object.value["kind"].as_str()
        });
        // Two of one name differ in what a kustomization may have changed.
        let line = documents.next().map(|document| document.mark.line);
        let line = line.filter(|_| documents.next().is_none());
        ObjectOrigin { file: object.origin.to_string(), line }
    };
    Ok(rendered.iter().map(origin).collect())
}

/// Returns the origin of a document of a stream.
pub fn of_document(name: &str, node: &Node) -> ObjectOrigin {
    ObjectOrigin { file: name.to_owned(), line: Some(node.mark.line) }
}
