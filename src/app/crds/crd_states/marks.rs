//! Places, and how a field of a CRD is found in the file of the CRD.

use std::collections::BTreeMap;

use go_data::yaml::{Data, Mark, Node};

/// The marks of the versions and fields in a CRD's document. They are found once for all findings.
pub struct VersionMarks {
    document: Mark,
    versions: BTreeMap<String, SchemaMarks>,
}

/// A schema: its own mark, and what is below it by the paths of crdify, without what is before them.
struct SchemaMarks {
    mark: Mark,
    below: BTreeMap<String, Self>,
}

impl VersionMarks {
    pub fn of(document: &Node) -> Self {
        let list =
            document.get("spec").and_then(|value| value.get("versions")).map(|node| &node.data);
        let Some(Data::List(list)) = list else {
            return Self { document: document.mark, versions: BTreeMap::new() };
        };
        let mut versions = BTreeMap::new();
        for node in list {
            let Some(name) = node.get("name").and_then(Node::as_str) else { continue };
            let schema = node.get("schema").and_then(|value| value.get("openAPIV3Schema"));
            // The version itself is where the mark is if it is not about a field.
            let below =
                schema.map(|node| (String::from("^"), SchemaMarks::from_schema(node, node.mark)));
            let level = SchemaMarks { mark: node.mark, below: below.into_iter().collect() };
            versions.entry(name.to_owned()).or_insert(level);
        }
        Self { document: document.mark, versions }
    }

    /// Returns the mark of a field of a version, or of what comes nearest to it.
    pub fn find(&self, version: Option<&str>, field: Option<&str>) -> Mark {
        match version.and_then(|version| self.versions.get(version)) {
            None => self.document,
            Some(level) => field.map_or(level.mark, |field| level.find_mark(field)),
        }
    }
}

impl SchemaMarks {
    fn from_schema(schema: &Node, mark: Mark) -> Self {
        let mut below = BTreeMap::new();
        for (path, mark, node) in child_schemas(schema) {
            below.entry(path).or_insert_with(|| Self::from_schema(node, mark));
        }
        Self { mark, below }
    }

    /// Returns the mark of the field of this path, or of the last one on the way to it.
    fn find_mark(&self, field: &str) -> Mark {
        let ends = field
            .char_indices()
            .skip(1)
            .filter(|pair| matches!(pair.1, '.' | '['))
            .map(|pair| pair.0);
        let mut ends: Vec<usize> = ends.chain([field.len()]).collect();
        // If `a` and `a.b` are both names, a path means the longer one.
        ends.reverse();
        for end in ends {
            match self.below.get(&field[..end]) {
                Some(level) if end == field.len() => return level.mark,
                Some(level) => return level.find_mark(&field[end..]),
                None => {}
            }
        }
        self.mark
    }
}

/// Returns the schemas directly in a schema, with their paths from there as crdify writes them.
fn child_schemas(schema: &Node) -> Vec<(String, Mark, &Node)> {
    let Data::Map(entries) = &schema.data else { return Vec::new() };
    let mut pairs = Vec::new();
    for entry in entries {
        let key = entry.key.as_str();
        match (key, &entry.value.data) {
            ("properties", Data::Map(fields)) => {
                pairs.extend(
                    fields
                        .iter()
                        .map(|field| (format!(".{}", field.key), field.mark, &field.value)),
                );
            }
            ("patternProperties" | "definitions" | "dependencies", Data::Map(fields)) => {
                pairs.extend(
                    fields
                        .iter()
                        .map(|field| (format!(".{key}[{}]", field.key), field.mark, &field.value)),
                );
            }
            ("items" | "allOf" | "anyOf" | "oneOf", Data::List(items)) => {
                let each = items.iter().enumerate();
                pairs.extend(each.map(|(at, node)| (format!(".{key}[{at}]"), node.mark, node)));
            }
            ("items" | "not" | "additionalProperties" | "additionalItems", Data::Map(_)) => {
                pairs.push((format!(".{key}"), entry.mark, &entry.value));
            }
            _ => {}
        }
    }
    pairs
}
