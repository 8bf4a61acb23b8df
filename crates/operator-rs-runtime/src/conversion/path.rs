//! Paths of fields: `spec.ports[0].name`.

use serde_json::Value;
use std::fmt::Write;

/// A field's name, or an item's index.
pub trait Key {
    /// Appends this to the path of the parent.
    fn append(self, path: &mut String);
}

impl Key for &str {
    fn append(self, path: &mut String) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(self);
    }
}

impl Key for usize {
    fn append(self, path: &mut String) {
        let _ = write!(path, "[{self}]");
    }
}

/// Whether a path is that of the parent or of a place below it.
pub fn is_within(path: &str, parent: &str) -> bool {
    let rest = path.strip_prefix(parent);
    rest.is_some_and(|it| parent.is_empty() || it.is_empty() || it.starts_with(['.', '[']))
}

/// The value at a path.
pub fn value_at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let names = path.split(['.', '[']).filter(|name| !name.is_empty());
    names.into_iter().try_fold(object, |value, name| match name.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(name),
    })
}

/// The path of the value at a line of the text that `serde_json::to_string_pretty` writes of an object.
pub fn of_line(object: &Value, line: usize) -> Option<String> {
    let mut lines = Vec::new();
    collect(object, &mut String::new(), &mut lines);
    lines.into_iter().nth(line.checked_sub(1)?)
}

fn collect(value: &Value, path: &mut String, lines: &mut Vec<String>) {
    lines.push(path.clone());
    let length = path.len();
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                name.as_str().append(path);
                collect(value, path, lines);
                path.truncate(length);
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                i.append(path);
                collect(value, path, lines);
                path.truncate(length);
            }
        }
        _ => return,
    }
    let is_empty = value.as_object().map_or_else(|| value.as_array().is_none_or(Vec::is_empty), |it| it.is_empty());
    if !is_empty {
        lines.push(path.clone()); // the closing bracket
    }
}
