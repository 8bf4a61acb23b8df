//! Parts of a value by their JSON pointers.

use super::Value;

/// Returns the string at a JSON pointer; empty if there is none.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the list at a JSON pointer; empty if there is none.
pub fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the strings of a list at a JSON pointer.
pub fn texts<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a str> {
    list(object, pointer).iter().filter_map(Value::as_str)
}

/// Escapes a key for a JSON pointer.
pub fn escape_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the key that a part of a JSON pointer stands for.
pub fn unescape_key(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
