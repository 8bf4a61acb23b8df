//! Parts of a value by their JSON pointers.

use super::Value;

/// The string at a JSON pointer; empty if there is none.
pub fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The list at a JSON pointer; empty if there is none.
pub fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The strings of a list at a JSON pointer.
pub fn texts<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a str> {
    list(object, pointer).iter().filter_map(Value::as_str)
}

/// A key as a part of a JSON pointer.
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The key of a part of a JSON pointer.
pub fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
