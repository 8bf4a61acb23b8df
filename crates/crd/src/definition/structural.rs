//! Checks schemas by the rules for structural schemas, as an API server does.
//!
//! apiextensions-apiserver 0.36: pkg/apiserver/schema/{validation,complete}.go and
//! pkg/apis/apiextensions/validation/validation.go.

use serde_json::json;

use super::{Fault, child_path, lists, visit_schemas, without_duplicates};
use crate::{
    expression,
    keyword::{flag, text},
};
use go_data::yaml::Value;

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

const CHANGE: &str = "change the type: the API server rejects the CRD as it is";
const ANY: &str = "declare the type, or accept any value with \
                   `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`";
const RECURSION: &str =
    "end the recursion with a type that accepts any value, for example `serde_json::Value`";
const PATTERN: &str = "use the syntax of https://pkg.go.dev/regexp/syntax; a CEL rule can check what a pattern cannot";
const TUPLE: &str = "write a struct: items of an array are all of one type";

pub fn check_schema(schema: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    check_structure("", schema, Level::Root, &mut faults);
    without_duplicates(faults)
}

/// Checks the top of a resource's schema.
pub fn check_root(schema: &Value, has_status: bool) -> Vec<Fault> {
    /// Other keywords would be lost where the schema of the status is used alone.
    const BESIDE_STATUS: &[&str] = &[
        "description",
        "type",
        "format",
        "title",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "required",
        "items",
        "properties",
        "externalDocs",
        "example",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    let mut faults = Vec::new();
    let mut report = |at: &str, message: String| {
        faults.push(Fault { at: at.to_owned(), message, hint: CHANGE });
    };
    if flag(schema, "nullable") {
        report("", "can be null".to_owned());
    }
    let is_set = |value: &Value| {
        !matches!(value, Value::Null | Value::Bool(false))
            && *value != json!("")
            && *value != json!([])
    };
    let set = schema.as_object().into_iter().flatten().filter(|entry| is_set(entry.1));
    for (key, _) in set.filter(|entry| has_status && !BESIDE_STATUS.contains(&entry.0.as_str())) {
        report("", format!("has `{key}`, which is not allowed beside a status subresource"));
    }
    for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let Some(it) = property_schema(schema, name) else { continue };
        if text(it, "type") != kind {
            report(name, format!("is not of type `{kind}`"));
        }
        let mut has_default = false;
        visit_schemas(name, it, &mut |_, it| {
            has_default |= it.get("default").is_some_and(|value| !value.is_null())
        });
        if has_default {
            report(name, "has a default, which is not allowed in metadata".to_owned());
        }
    }
    faults
}

/// Checks a schema outside of `allOf`, `anyOf`, `oneOf` and `not`.
fn check_structure(at: &str, schema: &Value, level: Level, faults: &mut Vec<Fault>) {
    let mut report = |message: &str, hint: &'static str| {
        faults.push(Fault { at: at.to_owned(), message: message.to_owned(), hint });
    };
    let kind = text(schema, "type");
    let any = flag(schema, "x-kubernetes-preserve-unknown-fields");
    let either = flag(schema, "x-kubernetes-int-or-string");
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    if schema.get("$ref").is_some() {
        return report("is recursive, which a CRD cannot express", RECURSION);
    }
    match (kind, level) {
        ("", _) if either || any => {}
        ("", Level::Root) => report("has no type, which must be `object`", CHANGE),
        ("", _) => report("has no type", ANY),
        ("object", _) => {}
        (_, Level::Root) => report("is not an object", CHANGE),
        ("array", _) if schema.get("items").is_none() => {
            report("is an array without a type for its items", CHANGE);
        }
        ("array" | "boolean" | "integer" | "number" | "string", _) => {}
        ("null", _) => report("can only be null", CHANGE),
        (other, _) => report(&format!("has an unknown type `{other}`"), CHANGE),
    }
    if embedded && kind != "object" {
        report("is an embedded resource, but not an object", CHANGE);
    }
    if embedded && !any && has_no_properties(schema) {
        report("is an embedded resource without properties", ANY);
    }
    if either && any {
        report("accepts a number or a string, and also unknown fields", CHANGE);
    }
    if schema.get("items").is_some_and(Value::is_array) {
        report("is a tuple", TUPLE);
    }
    check_forbidden_keywords(schema, &mut report);
    lists::check_merge_strategy(schema, &mut report);
    if let Some(more) = schema.get("additionalProperties") {
        if level == Level::Root || embedded {
            report("has additional properties, which a resource cannot have", CHANGE);
        }
        if !has_no_properties(schema) && *more != Value::Bool(true) {
            report("has both `properties` and `additionalProperties`", CHANGE);
        }
    }
    if let Some(metadata) = property_schema(schema, "metadata")
        && level == Level::Root
        && !restricts_only_names(metadata)
    {
        report("restricts more of `metadata` than `name` and `generateName`", CHANGE);
    }
    for_each_property(schema, |name, it| {
        check_structure(&child_path(at, name), it, Level::Field, faults)
    });
    if let Some(items @ Value::Object(_)) = schema.get("items") {
        check_structure(&format!("{at}[]"), items, Level::Item, faults);
    }
    if let Some(more @ Value::Object(_)) = schema.get("additionalProperties") {
        check_structure(&format!("{at}.*"), more, Level::Field, faults);
    }
    // Only the schemas at the top are compared with the properties outside of them.
    let shape = if level == Level::Root { Shape::Schema(schema) } else { Shape::Unchecked };
    for (nested, skip) in junctor_schemas(schema) {
        if !skip {
            check_value_validation(at, nested, shape, faults);
        }
    }
    let pattern = text(schema, "pattern");
    if let Some(why) = expression::find_regex_fault(pattern) {
        let message = format!("has the pattern `{pattern}`, which Go does not compile: {why}");
        faults.push(Fault { at: at.to_owned(), message, hint: PATTERN });
    }
}

/// The schema of a value outside of `allOf` and the like.
#[derive(Clone, Copy)]
enum Shape<'a> {
    Schema(&'a Value),
    Missing,
    Unchecked,
}

impl<'a> Shape<'a> {
    fn nested(self, find: impl Fn(&'a Value) -> Option<&'a Value>) -> Self {
        match self {
            Self::Schema(it) => find(it).map_or(Self::Missing, Self::Schema),
            other => other,
        }
    }
}

/// Checks a schema inside of `allOf`, `anyOf`, `oneOf` or `not`. `shape` is the schema of the same value outside of
/// them.
fn check_value_validation(at: &str, schema: &Value, shape: Shape<'_>, faults: &mut Vec<Fault>) {
    let mut report = |message: String, hint: &'static str| {
        faults.push(Fault { at: at.to_owned(), message, hint });
    };
    if matches!(shape, Shape::Missing) {
        report("is only described within one of several alternatives".to_owned(), CHANGE);
        return;
    }
    let empty = |value: &Value| {
        matches!(value, Value::Null | Value::Bool(false))
            || *value == json!("")
            || *value == json!([])
    };
    for key in [
        "type",
        "additionalProperties",
        "default",
        "title",
        "description",
        "nullable",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-validations",
    ] {
        let defined =
            |value: &Value| !empty(value) || (key == "additionalProperties" && !value.is_null());
        if schema.get(key).is_some_and(defined) {
            report(
                format!(
                    "has `{key}` inside of `allOf`, `anyOf`, `oneOf` or `not`, where it is not allowed"
                ),
                CHANGE,
            );
        }
    }
    if property_schema(schema, "metadata").is_some() {
        report("restricts `metadata` within one of several alternatives".to_owned(), CHANGE);
    }
    for_each_property(schema, |name, it| {
        check_value_validation(
            &child_path(at, name),
            it,
            shape.nested(|shape| property_schema(shape, name)),
            faults,
        );
    });
    if let Some(items @ Value::Object(_)) = schema.get("items") {
        check_value_validation(
            &format!("{at}[]"),
            items,
            shape.nested(|schema| schema.get("items")),
            faults,
        );
    }
    for (nested, _) in junctor_schemas(schema) {
        check_value_validation(at, nested, shape, faults);
    }
}

/// Reports keywords that are not allowed in any schema of a CRD.
fn check_forbidden_keywords(schema: &Value, report: &mut impl FnMut(&str, &'static str)) {
    for key in ["id", "additionalItems", "patternProperties", "definitions", "dependencies"] {
        let there = match schema.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Object(it)) => !it.is_empty(),
            Some(Value::String(it)) => !it.is_empty(),
            Some(_) => true,
        };
        match key {
            _ if !there => {}
            "patternProperties" => report(
                "is a map whose keys must match a pattern (`patternProperties`)",
                "use a map with `String` keys",
            ),
            "additionalItems" => {}
            key => report(&format!("has `{key}`, which is not allowed in CRDs"), CHANGE),
        }
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        report("has `x-kubernetes-preserve-unknown-fields: false`", "leave it out");
    }
    if flag(schema, "uniqueItems") {
        report(
            "requires unique items (`uniqueItems`)",
            "use `x_kube(merge_strategy = ListMerge::Set)` instead",
        );
    }
}

/// Returns the schemas in `allOf`, `anyOf`, `oneOf` and `not`, each with true if it is the one that int-or-string
/// allows.
fn junctor_schemas(schema: &Value) -> Vec<(&Value, bool)> {
    let int_or_string =
        |value: &Value| *value == json!([{ "type": "integer" }, { "type": "string" }]);
    let mut schemas = Vec::new();
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(list @ Value::Array(items)) = schema.get(key) else { continue };
        let skip = key == "anyOf" && int_or_string(list);
        let first = |index: usize, it: &Value| {
            key == "allOf" && index == 0 && it.get("anyOf").is_some_and(int_or_string)
        };
        schemas.extend(items.iter().enumerate().map(|(index, it)| (it, skip || first(index, it))));
    }
    schemas.extend(schema.get("not").map(|schema| (schema, false)));
    schemas
}

pub fn property_schema<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn for_each_property(schema: &Value, mut visit: impl FnMut(&str, &Value)) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        properties.iter().for_each(|(name, schema)| visit(name, schema));
    }
}

fn has_no_properties(schema: &Value) -> bool {
    schema.get("properties").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty)
}

fn restricts_only_names(metadata: &Value) -> bool {
    let names = |properties: &Value| {
        properties.as_object().is_some_and(|map| {
            map.keys().all(|name| matches!(name.as_str(), "name" | "generateName"))
        })
    };
    let Value::Object(map) = metadata else { return false };
    map.iter().all(|(key, it)| match key.as_str() {
        "type" => true,
        "properties" => names(it),
        _ => false,
    })
}
