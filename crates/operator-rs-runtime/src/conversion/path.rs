//! Paths of fields, such as `spec.ports[0].name`.

use serde_json::Value;
use std::fmt::Write;

/// The name of a field or the index of an item.
pub trait PathSegment {
    /// Appends the segment to the path of the parent.
    fn append_to(self, path: &mut String);
}

impl PathSegment for &str {
    fn append_to(self, path: &mut String) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(self);
    }
}

impl PathSegment for usize {
    fn append_to(self, path: &mut String) {
        let _ = write!(path, "[{self}]");
    }
}

/// Returns true if a path is that of the parent or of a value below it.
pub fn is_within(path: &str, parent: &str) -> bool {
    let rest = path.strip_prefix(parent);
    rest.is_some_and(|rest| parent.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns the value at a path.
pub fn value_at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let names = path.split(['.', '[']).filter(|name| !name.is_empty());
    names.into_iter().try_fold(object, |value, name| match name.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(name),
    })
}

/// Returns the path of the value at a line of the JSON that `serde_json::to_string_pretty` writes of an object.
pub fn path_of_line(object: &Value, line: usize) -> Option<String> {
    let mut lines = Vec::new();
    collect_lines(object, &mut String::new(), &mut lines);
    lines.into_iter().nth(line.checked_sub(1)?)
}

/// Adds the path of the value at each line.
fn collect_lines(value: &Value, path: &mut String, lines: &mut Vec<String>) {
    lines.push(path.clone());
    let length = path.len();
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                name.as_str().append_to(path);
                collect_lines(value, path, lines);
                path.truncate(length);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                i.append_to(path);
                collect_lines(value, path, lines);
                path.truncate(length);
            }
        }
        _ => return,
    }
    let is_empty_list = || value.as_array().is_none_or(Vec::is_empty);
    let is_empty = value.as_object().map_or_else(is_empty_list, |fields| fields.is_empty());
    if !is_empty {
        lines.push(path.clone()); // the closing bracket
    }
}
