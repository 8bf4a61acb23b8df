//! Determines the types of a schema's values in rules: `SchemaDeclType` of apiserver 0.36.

use std::sync::LazyLock;

use super::types::Type;
use crate::keyword::{flag, text};
use go_data::yaml::{Value, json};

/// The schema of the metadata that rules can read of every resource.
static METADATA: LazyLock<Value> = LazyLock::new(
    || json!({ "type": "object", "properties": { "name": *TEXT, "generateName": *TEXT } }),
);

static TEXT: LazyLock<Value> = LazyLock::new(|| json!({ "type": "string" }));

/// Returns the type of a schema's values; none if rules cannot use them.
pub fn type_of(schema: &Value, is_resource: bool) -> Option<Type<'_>> {
    let inside = |key: &str| {
        let of = schema.get(key).filter(|value| value.is_object());
        of.map(|schema| type_of(schema, is_embedded(schema)))
    };
    if flag(schema, "x-kubernetes-int-or-string") {
        return Some(Type::Dyn);
    }
    Some(match (text(schema, "type"), text(schema, "format")) {
        ("array", _) => Type::list(inside("items")??),
        ("object", _) => match inside("additionalProperties") {
            Some(value) => Type::map(Type::Simple("string"), value?),
            None => Type::Object(schema, is_resource),
        },
        ("string", "byte") => Type::Simple("bytes"),
        ("string", "duration") => Type::Simple("google.protobuf.Duration"),
        ("string", "date" | "date-time") => Type::Simple("google.protobuf.Timestamp"),
        ("string", _) => Type::Simple("string"),
        ("boolean", _) => Type::Simple("bool"),
        ("number", _) => Type::Simple("double"),
        ("integer", _) => Type::Simple("int"),
        _ => return None,
    })
}

/// Returns the type of a field by its name in rules.
pub fn field_of<'a>(schema: &'a Value, is_resource: bool, field: &str) -> Option<Type<'a>> {
    let property = property_of(schema, is_resource, field)?;
    type_of(property, is_embedded(property))
}

/// Returns the schema of a field by its name in rules.
pub fn property_of<'a>(schema: &'a Value, is_resource: bool, field: &str) -> Option<&'a Value> {
    match field {
        "apiVersion" | "kind" if is_resource && !declares_metadata(schema) => return Some(&TEXT),
        "metadata" if is_resource && !declares_metadata(schema) => return Some(&METADATA),
        _ => {}
    }
    let properties = schema.get("properties")?.as_object()?;
    let property = properties.get_key_value(&unescape_name(field));
    // A word of CEL that the parser takes for a name can be used as it is.
    let (_, property) =
        property.filter(|entry| escape_name(entry.0) == field || WORDS.contains(&field))?;
    Some(property)
}

/// Returns true if a resource's schema declares all the metadata that rules can read of every resource.
fn declares_metadata(schema: &Value) -> bool {
    let is = |path: &str, kind: &str| {
        let declared = schema.pointer(&format!("/properties/{path}/type"));
        declared.and_then(Value::as_str) == Some(kind)
    };
    let texts =
        ["kind", "apiVersion", "metadata/properties/name", "metadata/properties/generateName"];
    is("metadata", "object") && texts.iter().all(|path| is(path, "string"))
}

pub fn is_embedded(schema: &Value) -> bool {
    flag(schema, "x-kubernetes-embedded-resource")
}

/// Words of CEL itself: a field of such a name is written `__in__`.
pub const WORDS: &[&str] = &[
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

const ESCAPES: [(&str, &str); 4] =
    [("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")];

/// Returns a field's name in the schema: CEL escapes some characters and its own words.
pub fn unescape_name(name: &str) -> String {
    let word = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    if let Some(word) = word.filter(|word| WORDS.contains(word)) {
        return word.to_owned();
    }
    ESCAPES.iter().fold(name.to_owned(), |name, (plain, escape)| name.replace(escape, plain))
}

/// Returns a field's name in rules.
pub fn escape_name(name: &str) -> String {
    if WORDS.contains(&name) {
        return format!("__{name}__");
    }
    ESCAPES.iter().fold(name.to_owned(), |name, (plain, escape)| name.replace(plain, escape))
}

#[test]
fn names_are_escaped_as_rules_write_them() {
    for (name, expected) in [("a-b", "a__dash__b"), ("in", "__in__"), ("a__b", "a__underscores__b")]
    {
        assert_eq!(escape_name(name), expected);
        assert_eq!(unescape_name(expected), name);
    }
}
