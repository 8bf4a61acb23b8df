//! How large values of a schema can be: the bounds that `SchemaDeclType` of apiserver 0.36 sets.

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
    /// The values one step further: `@items`, `@values`, `@keys`, or a field.
    pub fn step(self, name: &str) -> Option<Self> {
        let Of(schema, is_resource) = self else { return None };
        if flag(schema, "x-kubernetes-int-or-string") {
            return None;
        }
        let inside = |key: &str| schema.get(key).filter(|it| it.is_object());
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

    /// The items, entries or characters that they have at most.
    pub fn largest(self) -> u64 {
        let Of(schema, _) = self else { return 0 };
        let limit = |key: &str| schema.get(key).and_then(Value::as_i64).map(|it| it.max(0));
        let length = || limit("maxLength").map(|it| it.wrapping_mul(4).cast_unsigned());
        if flag(schema, "x-kubernetes-int-or-string") {
            return length().unwrap_or(REQUEST - 2);
        }
        // `[]`, and a comma after each item; `{}`, and `"":,` with each entry.
        let fits = |inside: &str, overhead: u64| {
            let smallest = self.step(inside).map_or(0, Self::smallest);
            (REQUEST - 2) / (smallest + overhead)
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
            ("string", _) => length().or_else(|| longest(schema)).unwrap_or(REQUEST - 2),
            _ => 0,
        }
    }

    /// The bytes that they have at least, as JSON.
    pub fn smallest(self) -> u64 {
        let Of(schema, is_resource) = self else { return 2 };
        if flag(schema, "x-kubernetes-int-or-string") {
            return 1;
        }
        match (text(schema, "type"), text(schema, "format")) {
            ("object", _) if !schema.get("additionalProperties").is_some_and(Value::is_object) => {
                2 + required(schema, is_resource)
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

/// The bytes of the fields that an object must have.
fn required(schema: &Value, is_resource: bool) -> u64 {
    let names = schema.get("required").and_then(Value::as_array);
    let mut names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    names.sort_unstable();
    names.dedup();
    let size = |name: &&str| {
        let of_resource = is_resource && matches!(*name, "apiVersion" | "kind" | "metadata");
        let found = match of_resource {
            true => property_of(schema, true, name)?,
            false => schema.get("properties")?.get(name)?,
        };
        type_of(found, is_embedded(found))?;
        let is_set = found.get("default").is_some_and(|it| !it.is_null());
        let length = u64::try_from(name.len()).unwrap_or(u64::MAX);
        (!is_set).then(|| length + Of(found, is_embedded(found)).smallest() + 4)
    };
    names.iter().filter_map(size).sum()
}

/// The bytes of the longest text among the values of an enum.
fn longest(schema: &Value) -> Option<u64> {
    let values = schema.get("enum")?.as_array().filter(|it| !it.is_empty())?;
    let length = values.iter().filter_map(Value::as_str).map(str::len).max().unwrap_or(0);
    u64::try_from(length).ok()
}
