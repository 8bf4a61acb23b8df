//! Places, and how a field of a CRD is found in the file of the CRD.

use std::collections::BTreeMap;

use go_data::yaml::{Data, Mark, Node};

/// Where a CRD's document declares its versions and their fields: found once, however many findings ask for it.
pub struct Marks {
    document: Mark,
    versions: BTreeMap<String, Level>,
}

/// A schema: its own mark, and what is below it by the paths of crdify, without what is before them.
struct Level {
    mark: Mark,
    below: BTreeMap<String, Self>,
}

impl Marks {
    pub fn of(document: &Node) -> Self {
        let list = document.get("spec").and_then(|it| it.get("versions")).map(|it| &it.data);
        let Some(Data::List(list)) = list else {
            return Self { document: document.mark, versions: BTreeMap::new() };
        };
        let mut versions = BTreeMap::new();
        for node in list {
            let Some(name) = node.get("name").and_then(Node::as_str) else { continue };
            let schema = node.get("schema").and_then(|it| it.get("openAPIV3Schema"));
            // The version itself is where the mark is if it is not about a field.
            let below = schema.map(|it| (String::from("^"), Level::of(it, it.mark)));
            let level = Level { mark: node.mark, below: below.into_iter().collect() };
            versions.entry(name.to_owned()).or_insert(level);
        }
        Self { document: document.mark, versions }
    }

    /// The mark of a field of a version, or of what comes nearest to it.
    pub fn find(&self, version: Option<&str>, field: Option<&str>) -> Mark {
        match version.and_then(|it| self.versions.get(it)) {
            None => self.document,
            Some(level) => field.map_or(level.mark, |it| level.find(it)),
        }
    }
}

impl Level {
    fn of(schema: &Node, mark: Mark) -> Self {
        let mut below = BTreeMap::new();
        for (path, mark, node) in children(schema) {
            below.entry(path).or_insert_with(|| Self::of(node, mark));
        }
        Self { mark, below }
    }

    /// The mark of the field of this path, or of the last one on the way to it.
    fn find(&self, field: &str) -> Mark {
        let ends =
            field.char_indices().skip(1).filter(|it| matches!(it.1, '.' | '[')).map(|it| it.0);
        let mut ends: Vec<usize> = ends.chain([field.len()]).collect();
        // Of `a` and `a.b`, the longer name is the one that a path means.
        ends.reverse();
        for end in ends {
            match self.below.get(&field[..end]) {
                Some(level) if end == field.len() => return level.mark,
                Some(level) => return level.find(&field[end..]),
                None => {}
            }
        }
        self.mark
    }
}

/// The schemas directly in a schema, with their paths from there as crdify writes them.
fn children(schema: &Node) -> Vec<(String, Mark, &Node)> {
    let Data::Map(entries) = &schema.data else { return Vec::new() };
    let mut res = Vec::new();
    for entry in entries {
        let key = entry.key.as_str();
        match (key, &entry.value.data) {
            ("properties", Data::Map(fields)) => {
                res.extend(fields.iter().map(|it| (format!(".{}", it.key), it.mark, &it.value)));
            }
            ("patternProperties" | "definitions" | "dependencies", Data::Map(fields)) => {
                res.extend(
                    fields.iter().map(|it| (format!(".{key}[{}]", it.key), it.mark, &it.value)),
                );
            }
            ("items" | "allOf" | "anyOf" | "oneOf", Data::List(items)) => {
                let each = items.iter().enumerate();
                res.extend(each.map(|(at, it)| (format!(".{key}[{at}]"), it.mark, it)));
            }
            ("items" | "not" | "additionalProperties" | "additionalItems", Data::Map(_)) => {
                res.push((format!(".{key}"), entry.mark, &entry.value));
            }
            _ => {}
        }
    }
    res
}
