//! A value, read into a Go type and written again.

use std::fmt;

use super::{
    Decoded, Fault, Unknown, quantity, scalar,
    types::{self, Field, Type},
};
use crate::yaml::{Map, Value, json};

/// Which Go program reads an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// sigs.k8s.io/yaml, as operator-sdk: names in any case, and a text may be written as a number or a boolean.
    Yaml,
    /// encoding/json, as OLM: names in any case.
    Json,
    /// An API server: names in exactly this spelling.
    Server,
}

pub fn decode(type_: Type, object: &Value, reader: Reader) -> Decoded {
    let mut decoder = Decoder { reader, path: Vec::new(), unknown: Vec::new(), faults: Vec::new() };
    let value = decoder.value(type_, object, reader == Reader::Yaml);
    Decoded { value, unknown: decoder.unknown, faults: decoder.faults }
}

struct Decoder<'a> {
    reader: Reader,
    path: Vec<Step<'a>>,
    unknown: Vec<Unknown>,
    faults: Vec<Fault>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Item(usize),
}

impl<'a> Decoder<'a> {
    /// `coerce`: whether sigs.k8s.io/yaml makes a text of a number or a boolean where Go has a text.
    fn value(&mut self, type_: Type, value: &'a Value, coerce: bool) -> Value {
        if let Some(inner) = type_.strip_prefix('*') {
            return if value.is_null() { Value::Null } else { self.value(inner, value, coerce) };
        }
        if let Some(inner) = type_.strip_prefix("[]") {
            return self.list(inner, value, coerce);
        }
        if let Some(inner) = type_.strip_prefix("{}") {
            return self.map(inner, value, coerce);
        }
        if let Some(fields) = types::fields(type_, self.reader) {
            return self.fields(fields, value, coerce);
        }
        match type_ {
            "schemaOrBool" if value.is_boolean() => value.clone(),
            "schemaOrBool" if value.is_null() => json!(false),
            "schemaOrBool" => self.value(SCHEMA, value, false),
            // Go takes anything else in silence, and forgets it: API servers lose it.
            "schemaOrArray" | "schemaOrStrings" => match value {
                Value::Object(_) => self.value(SCHEMA, value, false),
                Value::Array(items) if !items.is_empty() => {
                    let item = if type_ == "schemaOrArray" { SCHEMA } else { "string" };
                    self.list(item, value, false)
                }
                Value::Array(_) | Value::Null => Value::Null,
                _ => {
                    if self.reader == Reader::Server {
                        self.fault(value, &scalar::Fault::Kind("a map or a list"));
                    }
                    Value::Null
                }
            },
            _ => {
                let result = match type_ {
                    "quantity" => quantity::decode(value),
                    _ => scalar::decode(type_, value, coerce),
                };
                result.unwrap_or_else(|fault| {
                    self.fault(value, &fault);
                    scalar::zero(type_)
                })
            }
        }
    }

    fn list(&mut self, type_: Type, value: &'a Value, coerce: bool) -> Value {
        let Some(items) = value.as_array() else { return self.no_list_or_map(value, "a list") };
        let item = |(at, item)| self.below(Step::Item(at), |it| it.value(type_, item, coerce));
        items.iter().enumerate().map(item).collect()
    }

    fn map(&mut self, type_: Type, value: &'a Value, coerce: bool) -> Value {
        let Some(map) = value.as_object() else { return self.no_list_or_map(value, "a map") };
        let mut res = Map::new();
        for (key, item) in map {
            let item = self.below(Step::Key(key), |it| it.value(type_, item, coerce));
            res.insert(key.clone(), item);
        }
        res.into()
    }

    fn no_list_or_map(&mut self, value: &Value, name: &'static str) -> Value {
        if !value.is_null() {
            self.fault(value, &scalar::Fault::Kind(name));
        }
        Value::Null
    }

    fn fields(&mut self, fields: &'static [Field], value: &'a Value, coerce: bool) -> Value {
        if !value.is_object() {
            self.no_list_or_map(value, "a map");
        }
        let mut res: Map<String, Value> = Map::new();
        let mut given = Vec::new();
        for (key, item) in value.as_object().into_iter().flatten() {
            let exact = fields.iter().find(|it| it.name == key);
            let is_like = |it: &&Field| it.name.eq_ignore_ascii_case(key);
            let like = fields.iter().find(is_like).filter(|_| self.reader != Reader::Server);
            let Some(field) = exact.or(like) else {
                let inside = self.path.iter().map(Step::to_string).collect();
                let path = self.below(Step::Key(key), |it| it.path());
                self.unknown.push(Unknown { path, inside, name: key.clone(), fields });
                continue;
            };
            let is_simple = |it: &Value| !it.is_null() && !it.is_array() && !it.is_object();
            if given.contains(&field.name) && !(is_simple(item) && is_simple(&value[field.name])) {
                self.below(Step::Key(key), |it| it.fault(item, &scalar::Fault::Twice(field.name)));
            }
            given.push(field.name);
            let decoded = self
                .below(Step::Key(key), |it| it.value(field.type_, item, coerce && !field.embedded));
            let is_empty = match field.type_.starts_with('*') {
                true => item.is_null(),
                false => is_empty(field.type_, &decoded),
            };
            if field.omit && is_empty {
                res.remove(field.name);
            } else {
                res.insert(field.name.to_owned(), decoded);
            }
        }
        let missing = fields.iter().filter(|field| !given.contains(&field.name));
        res.extend(missing.filter_map(|field| zero_field(field, self.reader)));
        res.into()
    }

    fn below<T>(&mut self, step: Step<'a>, act: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let res = act(self);
        self.path.pop();
        res
    }

    fn path(&self) -> String {
        let mut res = String::new();
        for step in &self.path {
            match step {
                Step::Item(at) => res.push_str(&format!("[{at}]")),
                // A key with dots in it would look like several.
                Step::Key(key) if key.contains('.') => res.push_str(&format!("[{key}]")),
                Step::Key(key) if res.is_empty() => res.push_str(key),
                Step::Key(key) => res.push_str(&format!(".{key}")),
            }
        }
        res
    }

    fn fault(&mut self, value: &Value, fault: &scalar::Fault) {
        let path = match self.path() {
            it if it.is_empty() => "it".to_owned(),
            it => format!("`{it}`"),
        };
        let message = match fault {
            scalar::Fault::Kind(expected) => {
                format!("{path} is {}, and must be {expected}", scalar::title(value))
            }
            scalar::Fault::Twice(name) => format!("{path} and `{name}` are one field, given twice"),
        };
        let steps: Vec<String> = self.path.iter().map(Step::to_string).collect();
        self.faults.push(Fault { pointer: super::pointer(&steps), message });
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

/// The value that Go writes for a missing field.
fn zero(type_: Type, reader: Reader) -> Value {
    let Some(fields) = types::fields(type_, reader) else { return scalar::zero(type_) };
    fields.iter().filter_map(|field| zero_field(field, reader)).collect()
}

/// A missing field as Go writes it; none if `omitempty` leaves it out.
fn zero_field(field: &Field, reader: Reader) -> Option<(String, Value)> {
    // Most of the fields of a schema are missing: these need no look at their types.
    let is_plain = field.type_.starts_with(['*', '[', '{']) || is_plain_scalar(field.type_);
    if field.omit && is_plain {
        return None;
    }
    let item = zero(field.type_, reader);
    (!field.omit || !is_empty(field.type_, &item)).then(|| (field.name.to_owned(), item))
}

fn is_plain_scalar(type_: Type) -> bool {
    matches!(type_, "string" | "bool" | "int32" | "int64" | "float64")
}

/// Whether `omitempty` leaves this out. Structs are never empty.
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
    is_plain_scalar(type_) && *value == scalar::zero(type_)
}
