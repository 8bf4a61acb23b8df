//! Flattens a schema into a list of fields with their paths as crdify writes them: `^.spec.ports.items.name`.

use std::collections::BTreeMap;

use super::normal::{Keywords, Schema};
use go_data::yaml::Value;

/// The keywords of each field by its path, without the fields and items below it.
pub type Fields = BTreeMap<String, Keywords>;

pub fn flatten_schema(schema: &Schema) -> Fields {
    let mut fields = Fields::new();
    if let Some(schema) = schema {
        add_fields("^", schema, &mut fields);
    }
    fields
}

/// Adds the fields in crdify's order: if two fields have the same path, the later one counts.
fn add_fields(path: &str, schema: &Keywords, fields: &mut Fields) {
    let keywords = schema.iter().filter(|(key, _)| !matches!(key.as_str(), "properties" | "items"));
    fields.insert(path.to_owned(), keywords.map(|(key, it)| (key.clone(), it.clone())).collect());

    add_if_schema(&child_path(path, "items"), schema.get("items"), fields);
    for key in ["items", "allOf", "anyOf", "oneOf"] {
        let list = schema.get(key).and_then(Value::as_array).into_iter().flatten();
        for (at, it) in list.enumerate() {
            add_if_schema(&format!("{}[{at}]", child_path(path, key)), Some(it), fields);
        }
    }
    add_if_schema(&child_path(path, "not"), schema.get("not"), fields);
    for (name, it) in entries_of(schema, "properties") {
        add_if_schema(&child_path(path, name), Some(it), fields);
    }
    add_if_schema(
        &child_path(path, "additionalProperties"),
        schema.get("additionalProperties"),
        fields,
    );
    add_keyed_schemas(path, "patternProperties", schema, fields);
    add_if_schema(&child_path(path, "additionalItems"), schema.get("additionalItems"), fields);
    add_keyed_schemas(path, "definitions", schema, fields);
    add_keyed_schemas(path, "dependencies", schema, fields);
}

/// Adds a keyword's value if it is a schema, and not a list or a flag.
fn add_if_schema(path: &str, value: Option<&Value>, fields: &mut Fields) {
    if let Some(Value::Object(schema)) = value {
        add_fields(path, schema, fields);
    }
}

fn add_keyed_schemas(path: &str, key: &str, schema: &Keywords, fields: &mut Fields) {
    for (name, it) in entries_of(schema, key) {
        add_if_schema(&format!("{}[{name}]", child_path(path, key)), Some(it), fields);
    }
}

fn entries_of<'a>(
    schema: &'a Keywords,
    key: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// Returns the path of a field. Go's `field.Path` writes an empty name as an index.
fn child_path(path: &str, name: &str) -> String {
    if name.is_empty() { format!("{path}[]") } else { format!("{path}.{name}") }
}

#[test]
fn every_schema_in_a_schema_has_its_path() {
    use super::normal::normalize_schema;
    use go_data::yaml::json;
    let schema = normalize_schema(&json!({
        "properties": {
            "list": {"items": {"items": [{}, {}]}},
            "map": {"additionalProperties": {"type": "string"}},
            "free": {"additionalProperties": true},
            "choice": {"oneOf": [{"not": {}}], "anyOf": [{}], "allOf": [{}]},
            "": {},
        },
        "patternProperties": {"a.*": {}},
        "definitions": {"d": {}},
        "dependencies": {"x": ["y"], "z": {}},
        "additionalItems": {},
    }));
    let fields = flatten_schema(&Some(schema.unwrap()));
    let paths: Vec<&str> = fields.keys().map(String::as_str).collect();
    let mut expected = [
        "^",
        "^.list",
        "^.list.items",
        "^.list.items.items[0]",
        "^.list.items.items[1]",
        "^.map",
        "^.map.additionalProperties",
        "^.free",
        "^.choice",
        "^.choice.oneOf[0]",
        "^.choice.oneOf[0].not",
        "^.choice.anyOf[0]",
        "^.choice.allOf[0]",
        "^[]",
        "^.patternProperties[a.*]",
        "^.definitions[d]",
        "^.dependencies[z]",
        "^.additionalItems",
    ];
    expected.sort_unstable();
    assert_eq!(paths, expected);
    assert_eq!(fields["^.map"].keys().collect::<Vec<_>>(), ["additionalProperties"]);
}
