//! Places, and how a field of a CRD is found in the file of the CRD.

use std::fmt;

use crate::yaml::{Data, Mark, Node};

/// A place in a file, on disk or at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub path: String,
    pub line: usize,
    pub column: usize,
    pub revision: Option<String>,
}

impl Place {
    pub fn new(path: &str, line: usize, column: usize) -> Self {
        Self { path: path.to_owned(), line, column, revision: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column, revision } = self;
        write!(f, "{path}:{line}:{column}")?;
        revision.as_ref().map_or(Ok(()), |it| write!(f, " at {it}"))
    }
}

/// Where a CRD's document declares a field of a version, or what comes nearest to it.
pub fn find(document: &Node, version: Option<&str>, field: Option<&str>) -> Mark {
    let of_version = || {
        let Data::List(versions) = &document.get("spec")?.get("versions")?.data else {
            return None;
        };
        versions.iter().find(|it| it.get("name").and_then(Node::as_str) == version)
    };
    let Some(node) = of_version() else { return document.mark };
    let schema = node.get("schema").and_then(|it| it.get("openAPIV3Schema"));
    match (schema, field) {
        (Some(schema), Some(field)) => nearest("^", schema.mark, schema, field),
        _ => node.mark,
    }
}

/// The mark of the field of this path, or of the last one on the way to it.
fn nearest(path: &str, mark: Mark, schema: &Node, field: &str) -> Mark {
    for (path, mark, node) in children(path, schema) {
        let rest = field.strip_prefix(&path);
        match rest {
            Some("") => return mark,
            Some(rest) if rest.starts_with(['.', '[']) => return nearest(&path, mark, node, field),
            _ => {}
        }
    }
    mark
}

/// The schemas directly in a schema, with their paths as crdify writes them.
fn children<'a>(path: &str, schema: &'a Node) -> Vec<(String, Mark, &'a Node)> {
    let Data::Map(entries) = &schema.data else { return Vec::new() };
    let mut res = Vec::new();
    for entry in entries {
        let key = entry.key.as_str();
        match (key, &entry.value.data) {
            ("properties", Data::Map(fields)) => {
                res.extend(
                    fields.iter().map(|it| (format!("{path}.{}", it.key), it.mark, &it.value)),
                );
            }
            ("patternProperties" | "definitions" | "dependencies", Data::Map(fields)) => {
                res.extend(
                    fields
                        .iter()
                        .map(|it| (format!("{path}.{key}[{}]", it.key), it.mark, &it.value)),
                );
            }
            ("items" | "allOf" | "anyOf" | "oneOf", Data::List(items)) => {
                let each = items.iter().enumerate();
                res.extend(each.map(|(at, it)| (format!("{path}.{key}[{at}]"), it.mark, it)));
            }
            ("items" | "not" | "additionalProperties" | "additionalItems", Data::Map(_)) => {
                res.push((format!("{path}.{key}"), entry.mark, &entry.value));
            }
            _ => {}
        }
    }
    // Of `a` and `a.b`, the longer name is the one that a path means.
    res.sort_by_key(|it| std::cmp::Reverse(it.0.len()));
    res
}
