//! Fields that a Go type does not have, as API servers look for them: in exactly this spelling.

use super::types::{self, Type};
use crate::yaml::Value;

/// A field that is unknown.
pub struct Unknown {
    /// The JSON pointer of what has it, as its steps.
    pub inside: Vec<String>,
    pub name: String,
    /// The fields that are known there.
    pub known: Vec<&'static str>,
}

pub fn fields(type_: Type, value: &Value) -> Vec<Unknown> {
    let mut res = Vec::new();
    find(type_, value, &mut Vec::new(), &mut res);
    res
}

fn find(type_: Type, value: &Value, inside: &mut Vec<String>, res: &mut Vec<Unknown>) {
    let type_ = type_.trim_start_matches('*');
    let is_schema = matches!(type_, "schemaOrArray" | "schemaOrBool" | "schemaOrStrings");
    let fields = types::fields(if is_schema { SCHEMA } else { type_ });
    let of_items = type_.strip_prefix("[]").or((type_ == "schemaOrArray").then_some(SCHEMA));
    let of_values = type_.strip_prefix("{}");
    let mut inner = Vec::new();
    match (value, of_items) {
        (Value::Array(items), Some(type_)) => {
            inner.extend(items.iter().enumerate().map(|(at, it)| (at.to_string(), type_, it)));
        }
        (Value::Object(map), _) => {
            for (key, item) in map {
                let field = fields.and_then(|it| it.iter().find(|it| it.name == key));
                match (of_values.or(field.map(|it| it.type_)), fields) {
                    (Some(type_), _) => inner.push((key.clone(), type_, item)),
                    (None, Some(fields)) => {
                        let known = fields.iter().map(|it| it.name).collect();
                        res.push(Unknown { inside: inside.clone(), name: key.clone(), known });
                    }
                    (None, None) => {}
                }
            }
        }
        _ => {}
    }
    for (step, type_, value) in inner {
        inside.push(step);
        find(type_, value, inside, res);
        inside.pop();
    }
}

const SCHEMA: Type = "apiextensions.JSONSchemaProps";
