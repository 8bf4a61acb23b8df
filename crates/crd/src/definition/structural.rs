//! Schemas that an API server rejects, by the rules for structural schemas.
//!
//! apiextensions-apiserver 0.36: pkg/apiserver/schema/{validation,complete}.go and
//! pkg/apis/apiextensions/validation/validation.go.

use serde_json::json;

use super::{Fault, below, lists, once, walk};
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

pub fn faults(schema: &Value) -> Vec<Fault> {
    let mut res = Vec::new();
    outer("", schema, Level::Root, &mut res);
    once(res)
}

/// What is wrong at the top of a resource alone.
pub fn at_root(schema: &Value, has_status: bool) -> Vec<Fault> {
    /// Others would be lost where the schema of the status is used alone.
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
    let mut res = Vec::new();
    let mut say = |at: &str, message: String| {
        res.push(Fault { at: at.to_owned(), message, hint: CHANGE });
    };
    if flag(schema, "nullable") {
        say("", "can be null".to_owned());
    }
    let is_set = |it: &Value| {
        !matches!(it, Value::Null | Value::Bool(false)) && *it != json!("") && *it != json!([])
    };
    let set = schema.as_object().into_iter().flatten().filter(|it| is_set(it.1));
    for (key, _) in set.filter(|it| has_status && !BESIDE_STATUS.contains(&it.0.as_str())) {
        say("", format!("has `{key}`, which is not allowed beside a status subresource"));
    }
    for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
        let Some(it) = property(schema, name) else { continue };
        if text(it, "type") != kind {
            say(name, format!("is not of type `{kind}`"));
        }
        let mut has_default = false;
        walk(name, it, &mut |_, it| {
            has_default |= it.get("default").is_some_and(|it| !it.is_null())
        });
        if has_default {
            say(name, "has a default, which is not allowed in metadata".to_owned());
        }
    }
    res
}

/// A schema outside of `allOf`, `anyOf`, `oneOf` and `not`.
fn outer(at: &str, schema: &Value, level: Level, res: &mut Vec<Fault>) {
    let mut say = |message: &str, hint: &'static str| {
        res.push(Fault { at: at.to_owned(), message: message.to_owned(), hint });
    };
    let kind = text(schema, "type");
    let any = flag(schema, "x-kubernetes-preserve-unknown-fields");
    let either = flag(schema, "x-kubernetes-int-or-string");
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    if schema.get("$ref").is_some() {
        return say("is recursive, which a CRD cannot express", RECURSION);
    }
    match (kind, level) {
        ("", _) if either || any => {}
        ("", Level::Root) => say("has no type, which must be `object`", CHANGE),
        ("", _) => say("has no type", ANY),
        ("object", _) => {}
        (_, Level::Root) => say("is not an object", CHANGE),
        ("array", _) if schema.get("items").is_none() => {
            say("is an array without a type for its items", CHANGE);
        }
        ("array" | "boolean" | "integer" | "number" | "string", _) => {}
        ("null", _) => say("can only be null", CHANGE),
        (other, _) => say(&format!("has an unknown type `{other}`"), CHANGE),
    }
    if embedded && kind != "object" {
        say("is an embedded resource, but not an object", CHANGE);
    }
    if embedded && !any && no_properties(schema) {
        say("is an embedded resource without properties", ANY);
    }
    if either && any {
        say("accepts a number or a string, and also unknown fields", CHANGE);
    }
    if schema.get("items").is_some_and(Value::is_array) {
        say("is a tuple", TUPLE);
    }
    never(schema, &mut say);
    lists::faults(schema, &mut say);
    if let Some(more) = schema.get("additionalProperties") {
        if level == Level::Root || embedded {
            say("has additional properties, which a resource cannot have", CHANGE);
        }
        if !no_properties(schema) && *more != Value::Bool(true) {
            say("has both `properties` and `additionalProperties`", CHANGE);
        }
    }
    if let Some(metadata) = property(schema, "metadata")
        && level == Level::Root
        && !only_names(metadata)
    {
        say("restricts more of `metadata` than `name` and `generateName`", CHANGE);
    }
    for_each_property(schema, |name, it| outer(&below(at, name), it, Level::Field, res));
    if let Some(items @ Value::Object(_)) = schema.get("items") {
        outer(&format!("{at}[]"), items, Level::Item, res);
    }
    if let Some(more @ Value::Object(_)) = schema.get("additionalProperties") {
        outer(&format!("{at}.*"), more, Level::Field, res);
    }
    // Whether what they describe is described outside of them is checked from the top only.
    let shape = if level == Level::Root { Shape::Schema(schema) } else { Shape::Unchecked };
    for (nested, skip) in junctors(schema) {
        if !skip {
            inner(at, nested, shape, res);
        }
    }
    let pattern = text(schema, "pattern");
    if let Some(why) = expression::regex_fault(pattern) {
        let message = format!("has the pattern `{pattern}`, which Go does not compile: {why}");
        res.push(Fault { at: at.to_owned(), message, hint: PATTERN });
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
    fn below(self, find: impl Fn(&'a Value) -> Option<&'a Value>) -> Self {
        match self {
            Self::Schema(it) => find(it).map_or(Self::Missing, Self::Schema),
            other => other,
        }
    }
}

/// A schema within `allOf`, `anyOf`, `oneOf` or `not`. `shape` is the schema of the same value outside of them.
fn inner(at: &str, schema: &Value, shape: Shape<'_>, res: &mut Vec<Fault>) {
    let mut say = |message: String, hint: &'static str| {
        res.push(Fault { at: at.to_owned(), message, hint });
    };
    if matches!(shape, Shape::Missing) {
        say("is only described within one of several alternatives".to_owned(), CHANGE);
        return;
    }
    let empty = |it: &Value| {
        matches!(it, Value::Null | Value::Bool(false)) || *it == json!("") || *it == json!([])
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
        let defined = |it: &Value| !empty(it) || (key == "additionalProperties" && !it.is_null());
        if schema.get(key).is_some_and(defined) {
            say(
                format!(
                    "has `{key}` inside of `allOf`, `anyOf`, `oneOf` or `not`, where it is not allowed"
                ),
                CHANGE,
            );
        }
    }
    if property(schema, "metadata").is_some() {
        say("restricts `metadata` within one of several alternatives".to_owned(), CHANGE);
    }
    for_each_property(schema, |name, it| {
        inner(&below(at, name), it, shape.below(|shape| property(shape, name)), res);
    });
    if let Some(items @ Value::Object(_)) = schema.get("items") {
        inner(&format!("{at}[]"), items, shape.below(|it| it.get("items")), res);
    }
    for (nested, _) in junctors(schema) {
        inner(at, nested, shape, res);
    }
}

/// What is not allowed in any schema of a CRD.
fn never(schema: &Value, say: &mut impl FnMut(&str, &'static str)) {
    for key in ["id", "additionalItems", "patternProperties", "definitions", "dependencies"] {
        let there = match schema.get(key) {
            None | Some(Value::Null) => false,
            Some(Value::Object(it)) => !it.is_empty(),
            Some(Value::String(it)) => !it.is_empty(),
            Some(_) => true,
        };
        match key {
            _ if !there => {}
            "patternProperties" => say(
                "is a map whose keys must match a pattern (`patternProperties`)",
                "use a map with `String` keys",
            ),
            "additionalItems" => {}
            key => say(&format!("has `{key}`, which is not allowed in CRDs"), CHANGE),
        }
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        say("has `x-kubernetes-preserve-unknown-fields: false`", "leave it out");
    }
    if flag(schema, "uniqueItems") {
        say(
            "requires unique items (`uniqueItems`)",
            "use `x_kube(merge_strategy = ListMerge::Set)` instead",
        );
    }
}

/// The schemas in `allOf`, `anyOf`, `oneOf` and `not`, and whether each is the one that int-or-string allows.
fn junctors(schema: &Value) -> Vec<(&Value, bool)> {
    let int_or_string = |it: &Value| *it == json!([{ "type": "integer" }, { "type": "string" }]);
    let mut res = Vec::new();
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(list @ Value::Array(items)) = schema.get(key) else { continue };
        let skip = key == "anyOf" && int_or_string(list);
        let first = |index: usize, it: &Value| {
            key == "allOf" && index == 0 && it.get("anyOf").is_some_and(int_or_string)
        };
        res.extend(items.iter().enumerate().map(|(index, it)| (it, skip || first(index, it))));
    }
    res.extend(schema.get("not").map(|it| (it, false)));
    res
}

pub fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn for_each_property(schema: &Value, mut f: impl FnMut(&str, &Value)) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        properties.iter().for_each(|(name, it)| f(name, it));
    }
}

fn no_properties(schema: &Value) -> bool {
    schema.get("properties").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty)
}

fn only_names(metadata: &Value) -> bool {
    let names = |it: &Value| {
        it.as_object()
            .is_some_and(|it| it.keys().all(|it| matches!(it.as_str(), "name" | "generateName")))
    };
    let Value::Object(map) = metadata else { return false };
    map.iter().all(|(key, it)| match key.as_str() {
        "type" => true,
        "properties" => names(it),
        _ => false,
    })
}
