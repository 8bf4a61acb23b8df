//! Determines how large values of a schema can be: the bounds that `SchemaDeclType` of apiserver 0.36 sets.

use super::schema::{WORDS, is_embedded, property_of, type_of};
use crate::keyword::{flag, text};
use go_data::yaml::Value;

/// The bytes that a request to an API server can have.
pub const REQUEST: u64 = 3 * 1024 * 1024;

/// The values that a path in a rule leads to.
#[derive(Clone, Copy)]
pub enum Values<'a> {
    /// The bounds of a schema's values, and whether it is the schema of a resource.
    Of(&'a Value, bool),
    /// The keys of a map.
    Keys,
}

use Values::{Keys, Of};

impl<'a> Values<'a> {
    /// Returns the values one step further: `@items`, `@values`, `@keys`, or a field.
    pub fn values_at(self, name: &str) -> Option<Self> {
        let Of(schema, is_resource) = self else { return None };
        if flag(schema, "x-kubernetes-int-or-string") {
            return None;
        }
        let inside = |key: &str| schema.get(key).filter(|value| value.is_object());
        let next = match (text(schema, "type"), inside("additionalProperties"), name) {
            ("array", _, "@items" | "@values") => inside("items")?,
            ("object", Some(values), "@items" | "@values") => values,
            ("object", Some(_), "@keys") => return Some(Keys),
            // Fields are known by their escaped names.
            ("object", None, name) if !WORDS.contains(&name) => {
                property_of(schema, is_resource, name)?
            }
            _ => return None,
        };
        type_of(next, is_embedded(next))?;
        Some(Of(next, is_embedded(next)))
    }

    /// Returns the maximum number of items, entries or characters.
    pub fn max_size(self) -> u64 {
        let Of(schema, _) = self else { return 0 };
        let limit = |key: &str| schema.get(key).and_then(Value::as_i64).map(|limit| limit.max(0));
        let length = || limit("maxLength").map(|limit| limit.wrapping_mul(4).cast_unsigned());
        if flag(schema, "x-kubernetes-int-or-string") {
            return length().unwrap_or(REQUEST - 2);
        }
        // `[]`, and a comma after each item; `{}`, and `"":,` with each entry.
        let fits = |inside: &str, overhead: u64| {
            let min_bytes = self.values_at(inside).map_or(0, Self::min_bytes);
            (REQUEST - 2) / (min_bytes + overhead)
        };
        let is_map = schema.get("additionalProperties").is_some_and(Value::is_object);
        match (text(schema, "type"), text(schema, "format")) {
            ("array", _) => match limit("maxItems") {
                Some(limit) => limit.cast_unsigned(),
                None => fits("@items", 1),
            },
            ("object", _) if is_map => match limit("maxProperties") {
                Some(limit) => limit.cast_unsigned(),
                None => fits("@values", 6),
            },
            ("string", "byte") => limit("maxLength").map_or(REQUEST - 2, i64::cast_unsigned),
            ("string", "duration" | "date-time") => 32,
            ("string", "date") => 12,
            ("string", _) => length().or_else(|| longest_enum_value(schema)).unwrap_or(REQUEST - 2),
            _ => 0,
        }
    }

    /// Returns the minimum number of bytes, as JSON.
    pub fn min_bytes(self) -> u64 {
        let Of(schema, is_resource) = self else { return 2 };
        if flag(schema, "x-kubernetes-int-or-string") {
            return 1;
        }
        match (text(schema, "type"), text(schema, "format")) {
            ("object", _) if !schema.get("additionalProperties").is_some_and(Value::is_object) => {
                2 + bytes_of_required_fields(schema, is_resource)
            }
            ("string", "duration") => 3,
            ("string", "date") => 12,
            ("string", "date-time") => 21,
            ("boolean", _) => 4,
            ("number" | "integer", _) => 1,
            _ => 2,
        }
    }
}

/// Returns the minimum number of bytes of the fields that an object must have.
fn bytes_of_required_fields(schema: &Value, is_resource: bool) -> u64 {
    let names = schema.get("required").and_then(Value::as_array);
    let mut names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let size = |name: &&str| {
        let of_resource = is_resource && matches!(*name, "apiVersion" | "kind" | "metadata");
        let property = if of_resource {
            property_of(schema, true, name)?
        } else {
            schema.get("properties")?.get(name)?
        };
        type_of(property, is_embedded(property))?;
        let is_set = property.get("default").is_some_and(|default| !default.is_null());
        let length = u64::try_from(name.len()).unwrap_or(u64::MAX);
        (!is_set).then(|| length + Of(property, is_embedded(property)).min_bytes() + 4)
    };
    names.iter().filter_map(size).sum()
}

/// Returns the number of bytes of the longest string among the values of an enum.
fn longest_enum_value(schema: &Value) -> Option<u64> {
    let values = schema.get("enum")?.as_array().filter(|values| !values.is_empty())?;
    let length = values.iter().filter_map(Value::as_str).map(str::len).max().unwrap_or(0);
    u64::try_from(length).ok()
}
