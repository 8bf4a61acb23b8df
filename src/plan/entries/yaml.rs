//! Lists in YAML files.

use super::{Content, Entry, Fault, Gap};
use go_data::yaml::{self, Data, Dialect, Entry as Field, Node, Value, block};
use model::ProjectPath;

/// A step from a document to a list.
#[derive(PartialEq)]
pub enum Step {
    Key(String),
    /// Into the items of a list.
    Items,
    /// Only where a field has this value.
    Where(String, Value),
}

/// Returns the place of the innermost list. Scalars beside the way to it choose the object.
pub fn list_steps(fragment: &str) -> Result<Vec<Step>, Fault> {
    let documents = yaml::parse_nodes(fragment, Dialect::Kubernetes).map_err(Fault::Yaml)?;
    let mut steps = Vec::new();
    let mut node = documents.first();
    while let Some(it) = node {
        node = match &it.data {
            Data::List(items) => {
                node = items.iter().find(|item| has_list(item));
                if node.is_some() {
                    steps.push(Step::Items);
                }
                node
            }
            Data::Map(fields) => {
                for field in fields {
                    if let Data::Scalar(value) = &field.value.data {
                        steps.push(Step::Where(field.key.clone(), value.clone()));
                    }
                }
                let next = fields.iter().find(|field| has_list(&field.value));
                steps.extend(next.map(|field| Step::Key(field.key.clone())));
                next.map(|field| &field.value)
            }
            Data::Scalar(_) => None,
        };
    }
    Ok(steps)
}

fn has_list(node: &Node) -> bool {
    match &node.data {
        Data::List(_) => true,
        Data::Map(fields) => fields.iter().any(|field| has_list(&field.value)),
        Data::Scalar(_) => false,
    }
}

pub fn format_steps(steps: &[Step]) -> String {
    let mut output = String::new();
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Key(key) if output.is_empty() => output += key,
            Step::Key(key) => output += &format!(".{key}"),
            Step::Where(key, Value::String(value))
                if at > 0 && matches!(steps[at - 1], Step::Items) =>
            {
                output += &format!("[{key}={value}]");
            }
            _ => {}
        }
    }
    output
}

/// Returns `None` unless there is exactly one such list.
pub fn parse_content(
    path: &ProjectPath,
    text: &str,
    steps: &[Step],
) -> Result<Option<Content>, Fault> {
    let is_own = path.as_str().ends_with("kustomization.yaml");
    let dialect = if is_own { Dialect::Kubernetes } else { Dialect::Kustomize };
    let documents = yaml::parse_nodes(text, dialect).map_err(Fault::Yaml)?;
    // kustomize reads the first document of a kustomization, and no other tool reads more than one.
    if is_own && documents.len() != 1 {
        return Ok(None);
    }
    let mut found: Vec<Found> = (0..documents.len())
        .map(|index| Found { node: &documents[index], field: None, pointer: format!("/{index}") })
        .collect();
    for step in steps {
        found = found.into_iter().flat_map(|node| node.follow_step(step)).collect();
    }
    let [Found { node, field: Some(field), pointer }] = &found[..] else { return Ok(None) };
    let items = match &node.data {
        Data::List(items) => &items[..],
        Data::Scalar(Value::Null) => &[],
        _ => return Ok(None),
    };
    let lines: Vec<&str> = text.lines().collect();
    let entries = items.iter().map(|item| build_entry(&lines, item)).collect();
    let gap = Gap::Indent(Box::new((*field).clone()));
    let pointer = pointer.clone();
    let mut rest: Value = documents.into_iter().map(Node::into_value).collect();
    if let Some(list) = rest.pointer_mut(&pointer) {
        *list = Value::Null;
    }
    Ok(Some(Content { rest: rest.to_string(), entries, gap }))
}

struct Found<'a> {
    node: &'a Node,
    field: Option<&'a Field>,
    pointer: String,
}

impl<'a> Found<'a> {
    fn follow_step(self, step: &Step) -> Vec<Self> {
        match (step, &self.node.data) {
            (Step::Key(key), Data::Map(fields)) => {
                let field = fields.iter().find(|field| field.key == *key);
                let pointer = format!("{}/{}", self.pointer, yaml::pointer::escape_key(key));
                field
                    .map(|it| Found { node: &it.value, field: Some(it), pointer })
                    .into_iter()
                    .collect()
            }
            (Step::Where(key, value), _) => {
                let is = |node: &Node| matches!(&node.data, Data::Scalar(it) if it == value);
                if self.node.get(key).is_some_and(is) { vec![self] } else { Vec::new() }
            }
            (Step::Items, Data::List(items)) => {
                let item = |(at, node): (usize, &'a Node)| Found {
                    node,
                    field: None,
                    pointer: format!("{}/{at}", self.pointer),
                };
                items.iter().enumerate().map(item).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn build_entry(all_lines: &[&str], node: &Node) -> Entry {
    let mut value = node.clone().into_value();
    if let Value::String(path) = &mut value {
        *path = normalize_path(path);
    }
    let mut form = value.clone();
    let (mut names, mut defines) = (Vec::new(), Vec::new());
    match (&value, form.as_object_mut()) {
        (Value::String(path), _) => names.push(path.clone()),
        (_, Some(map)) => {
            if let Some(value @ Value::String(_)) = map.get_mut("value") {
                *value = Value::Null;
            }
            let text = |key| map.get(key).and_then(Value::as_str);
            names.extend(text("name").map(str::to_owned));
            defines.clone_from(&names);
            // A patch is known by its file, which others may use, too.
            names.extend(text("path").map(normalize_path));
        }
        _ => {}
    }
    let lines = block::lines_of_item(all_lines, node);
    let has_comment = lines.is_some_and(|lines| {
        block::has_comment(all_lines, lines, node) != Some(false)
            || block::comment_start(all_lines[lines.0]).is_some()
    });
    Entry {
        data: value.to_string(),
        form: form.to_string(),
        names,
        defines,
        line: node.mark.line.saturating_sub(1),
        column: node.mark.column.saturating_sub(1),
        lines,
        has_comment,
    }
}

/// Returns a path without its needless parts: `./a//b` is `a/b`.
fn normalize_path(path: &str) -> String {
    if path.contains("://") {
        return path.to_owned();
    }
    let mut parts = path.split('/').enumerate();
    let first = parts.next().filter(|pair| pair.1 != ".").map(|pair| pair.1);
    let rest = parts.filter(|pair| !["", "."].contains(&pair.1)).map(|pair| pair.1);
    first.into_iter().chain(rest).collect::<Vec<_>>().join("/")
}
