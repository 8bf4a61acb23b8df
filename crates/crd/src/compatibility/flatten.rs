//! Flattens a schema into a list of fields with their paths as crdify writes them: `^.spec.ports.items.name`.

use std::collections::BTreeMap;

use super::normal::{Keywords, Schema};
use go_data::yaml::Value;

/// The keywords of each field by its path, without the fields and items below it.
pub type Fields = BTreeMap<String, Keywords>;

pub fn flatten(schema: &Schema) -> Fields {
    let mut res = Fields::new();
    if let Some(schema) = schema {
        visit("^", schema, &mut res);
    }
    res
}

/// In crdify's order: if two fields have the same path, the later one counts.
fn visit(path: &str, schema: &Keywords, res: &mut Fields) {
    let own = schema.iter().filter(|(key, _)| !matches!(key.as_str(), "properties" | "items"));
    res.insert(path.to_owned(), own.map(|(key, it)| (key.clone(), it.clone())).collect());

    one(&child(path, "items"), schema.get("items"), res);
    for key in ["items", "allOf", "anyOf", "oneOf"] {
        let list = schema.get(key).and_then(Value::as_array).into_iter().flatten();
        for (at, it) in list.enumerate() {
            one(&format!("{}[{at}]", child(path, key)), Some(it), res);
        }
    }
    one(&child(path, "not"), schema.get("not"), res);
    for (name, it) in entries(schema, "properties") {
        one(&child(path, name), Some(it), res);
    }
    one(&child(path, "additionalProperties"), schema.get("additionalProperties"), res);
    keyed(path, "patternProperties", schema, res);
    one(&child(path, "additionalItems"), schema.get("additionalItems"), res);
    keyed(path, "definitions", schema, res);
    keyed(path, "dependencies", schema, res);
}

/// A keyword's value, where it is a schema and not a list or a flag.
fn one(path: &str, value: Option<&Value>, res: &mut Fields) {
    if let Some(Value::Object(schema)) = value {
        visit(path, schema, res);
    }
}

fn keyed(path: &str, key: &str, schema: &Keywords, res: &mut Fields) {
    for (name, it) in entries(schema, key) {
        one(&format!("{}[{name}]", child(path, key)), Some(it), res);
    }
}

fn entries<'a>(schema: &'a Keywords, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    schema.get(key).and_then(Value::as_object).into_iter().flatten()
}

/// Go's `field.Path` writes a name that is empty as an index.
fn child(path: &str, name: &str) -> String {
    if name.is_empty() { format!("{path}[]") } else { format!("{path}.{name}") }
}

#[test]
fn every_schema_in_a_schema_has_its_path() {
    use super::normal::normalize;
    use go_data::yaml::json;
    let schema = normalize(&json!({
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
    let fields = flatten(&Some(schema.unwrap()));
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
