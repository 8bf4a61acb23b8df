//! Decodes a value into a Go type, and encodes it again.

use std::fmt;

use super::{
    DecodeError, Decoded, UnknownField, quantity,
    scalar::{self, ScalarError},
    types::{self, Field, Type},
};
use crate::yaml::{Map, Value, json};

/// The Go program that reads an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// sigs.k8s.io/yaml, as operator-sdk: names in any case, and a text may be written as a number or a boolean.
    Yaml,
    /// encoding/json, as OLM: names in any case.
    Json,
    /// An API server: names in exactly this spelling.
    Server,
}

pub fn decode_object(type_: Type, object: &Value, reader: Reader) -> Decoded {
    let mut decoder = Decoder { reader, path: Vec::new(), unknown: Vec::new(), faults: Vec::new() };
    let value = decoder.decode_value(type_, object, reader == Reader::Yaml);
    Decoded { value, unknown: decoder.unknown, faults: decoder.faults }
}

struct Decoder<'a> {
    reader: Reader,
    path: Vec<Step<'a>>,
    unknown: Vec<UnknownField>,
    faults: Vec<DecodeError>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

impl<'a> Decoder<'a> {
    /// Decodes a value. With `coerce`, a number or a boolean becomes a string where Go has a string, as in
    /// sigs.k8s.io/yaml.
    fn decode_value(&mut self, type_: Type, value: &'a Value, coerce: bool) -> Value {
        if let Some(inner) = type_.strip_prefix('*') {
            return if value.is_null() {
                Value::Null
            } else {
                self.decode_value(inner, value, coerce)
            };
        }
        if let Some(inner) = type_.strip_prefix("[]") {
            return self.decode_list(inner, value, coerce);
        }
        if let Some(inner) = type_.strip_prefix("{}") {
            return self.decode_map(inner, value, coerce);
        }
        if let Some(fields) = types::struct_fields(type_, self.reader) {
            return self.decode_struct(fields, value, coerce);
        }
        match type_ {
            "schemaOrBool" if value.is_boolean() => value.clone(),
            "schemaOrBool" if value.is_null() => json!(false),
            "schemaOrBool" => self.decode_value(SCHEMA, value, false),
            // Go accepts any other value, and drops it: API servers lose it.
            "schemaOrArray" | "schemaOrStrings" => match value {
                Value::Object(_) => self.decode_value(SCHEMA, value, false),
                Value::Array(items) if !items.is_empty() => {
                    let item = if type_ == "schemaOrArray" { SCHEMA } else { "string" };
                    self.decode_list(item, value, false)
                }
                Value::Array(_) | Value::Null => Value::Null,
                _ => {
                    if self.reader == Reader::Server {
                        self.report_error(value, &ScalarError::Type("a map or a list"));
                    }
                    Value::Null
                }
            },
            _ => {
                let result = match type_ {
                    "quantity" => quantity::decode_quantity(value),
                    _ => scalar::decode_scalar(type_, value, coerce),
                };
                result.unwrap_or_else(|error| {
                    self.report_error(value, &error);
                    scalar::zero_value(type_)
                })
            }
        }
    }

    fn decode_list(&mut self, type_: Type, value: &'a Value, coerce: bool) -> Value {
        let Some(items) = value.as_array() else { return self.report_wrong_type(value, "a list") };
        let item = |(at, item)| {
            self.with_step(Step::Item(at), |decoder| decoder.decode_value(type_, item, coerce))
        };
        items.iter().enumerate().map(item).collect()
    }

    fn decode_map(&mut self, type_: Type, value: &'a Value, coerce: bool) -> Value {
        let Some(map) = value.as_object() else { return self.report_wrong_type(value, "a map") };
        let mut decoded = Map::new();
        for (key, item) in map {
            let item =
                self.with_step(Step::Key(key), |decoder| decoder.decode_value(type_, item, coerce));
            decoded.insert(key.clone(), item);
        }
        decoded.into()
    }

    fn report_wrong_type(&mut self, value: &Value, name: &'static str) -> Value {
        if !value.is_null() {
            self.report_error(value, &ScalarError::Type(name));
        }
        Value::Null
    }

    fn decode_struct(&mut self, fields: &'static [Field], value: &'a Value, coerce: bool) -> Value {
        if !value.is_object() {
            self.report_wrong_type(value, "a map");
        }
        let mut decoded_fields: Map<String, Value> = Map::new();
        let mut given = Vec::new();
        for (key, item) in value.as_object().into_iter().flatten() {
            let exact = fields.iter().find(|field| field.name == key);
            let is_like = |field: &&Field| field.name.eq_ignore_ascii_case(key);
            let like = fields.iter().find(is_like).filter(|_| self.reader != Reader::Server);
            let Some(field) = exact.or(like) else {
                let inside = self.path.iter().map(Step::to_string).collect();
                let path = self.with_step(Step::Key(key), |decoder| decoder.path());
                self.unknown.push(UnknownField { path, inside, name: key.clone(), fields });
                continue;
            };
            let is_simple =
                |value: &Value| !value.is_null() && !value.is_array() && !value.is_object();
            if given.contains(&field.name) && !(is_simple(item) && is_simple(&value[field.name])) {
                self.with_step(Step::Key(key), |decoder| {
                    decoder.report_error(item, &ScalarError::Twice(field.name))
                });
            }
            given.push(field.name);
            let decoded = self.with_step(Step::Key(key), |decoder| {
                decoder.decode_value(field.type_, item, coerce && !field.embedded)
            });
            let is_empty = if field.type_.starts_with('*') {
                item.is_null()
            } else {
                is_empty(field.type_, &decoded)
            };
            if field.omit && is_empty {
                decoded_fields.remove(field.name);
            } else {
                decoded_fields.insert(field.name.to_owned(), decoded);
            }
        }
        let missing = fields.iter().filter(|field| !given.contains(&field.name));
        decoded_fields.extend(missing.filter_map(|field| zero_field(field, self.reader)));
        decoded_fields.into()
    }

    fn with_step<T>(&mut self, step: Step<'a>, act: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = act(self);
        self.path.pop();
        result
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.path {
            match step {
                Step::Item(at) => path.push_str(&format!("[{at}]")),
                // A key with dots in it would look like several.
                Step::Key(key) if key.contains('.') => path.push_str(&format!("[{key}]")),
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => path.push_str(&format!(".{key}")),
            }
        }
        path
    }

    fn report_error(&mut self, value: &Value, error: &ScalarError) {
        let path = match self.path() {
            path if path.is_empty() => "it".to_owned(),
            path => format!("`{path}`"),
        };
        let message = match error {
            ScalarError::Type(expected) => {
                format!("{path} is {}, and must be {expected}", scalar::describe_value(value))
            }
            ScalarError::Twice(name) => format!("{path} and `{name}` are one field, given twice"),
        };
        let steps: Vec<String> = self.path.iter().map(Step::to_string).collect();
        self.faults.push(DecodeError { pointer: super::format_pointer(&steps), message });
    }
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Item(at) => write!(f, "{at}"),
        }
    }
}

pub(super) const SCHEMA: Type = "apiextensions.JSONSchemaProps";

/// Returns the value that Go writes for a missing field.
fn zero_value(type_: Type, reader: Reader) -> Value {
    let Some(fields) = types::struct_fields(type_, reader) else {
        return scalar::zero_value(type_);
    };
    fields.iter().filter_map(|field| zero_field(field, reader)).collect()
}

/// Returns a missing field as Go writes it; `None` if `omitempty` leaves it out.
fn zero_field(field: &Field, reader: Reader) -> Option<(String, Value)> {
    // Most fields of a schema are missing; for fields of these types, no table is read.
    let is_plain = field.type_.starts_with(['*', '[', '{']) || is_plain_scalar(field.type_);
    if field.omit && is_plain {
        return None;
    }
    let item = zero_value(field.type_, reader);
    (!field.omit || !is_empty(field.type_, &item)).then(|| (field.name.to_owned(), item))
}

fn is_plain_scalar(type_: Type) -> bool {
    matches!(type_, "string" | "bool" | "int32" | "int64" | "float64")
}

/// Returns whether `omitempty` leaves a value out. Structs are never empty.
pub(super) fn is_empty(type_: Type, value: &Value) -> bool {
    if type_.starts_with('*') || matches!(type_, "fields" | "json" | "raw") {
        return value.is_null();
    }
    if type_.starts_with(['[', '{']) || type_ == "bytes" {
        return matches!(value, Value::Null)
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty)
            || value == "";
    }
    is_plain_scalar(type_) && *value == scalar::zero_value(type_)
}
