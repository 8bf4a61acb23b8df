//! Keywords of a schema, and fields of what is like one.

use go_data::yaml::Value;

/// The string of a keyword; empty if there is none.
pub fn text<'a>(schema: &'a Value, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a keyword is `true`.
pub fn flag(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}
