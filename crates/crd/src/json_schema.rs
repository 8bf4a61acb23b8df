//! JSON Schemas (draft-07) of the kinds that CRDs define, for editors and for validators such as kubeconform.
//!
//! A schema here allows what an API server of Kubernetes 1.36 accepts with strict validation of fields, except for what
//! JSON Schema cannot express: rules (CEL), keys of lists, formats that Go reads in its own way, and names. `null` is
//! refused where it is no value, while a server drops it.

use crate::keyword::{flag, text};
use go_data::yaml::{Map, Value};
use serde_json::json;

/// The schema of one version of a kind.
pub struct KindSchema {
    /// The path by which collections of schemas name it: `cache.example.com/memcached_v1.json`.
    pub path: String,
    pub schema: Map<String, Value>,
}

/// Returns the schemas of all versions that have one, also of versions that are not served, as collections do.
pub fn schemas_of_crd(crd: &Value) -> Vec<KindSchema> {
    let spec = &crd["spec"];
    let (group, kind) = (text(spec, "group"), text(&spec["names"], "kind"));
    let versions = spec["versions"].as_array().into_iter().flatten();
    let of_version = |version: &Value| {
        let schema = version.get("schema")?.get("openAPIV3Schema")?;
        let name = text(version, "name");
        let mut converted = convert_schema(schema);
        let properties = converted.entry("properties").or_insert_with(|| json!({}));
        // A server validates these itself.
        properties["apiVersion"] = json!({ "type": "string", "const": format!("{group}/{name}") });
        properties["kind"] = json!({ "type": "string", "const": kind });
        properties["metadata"] = metadata_schema(schema);
        let mut required =
            converted.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        required.extend(["apiVersion", "kind", "metadata"].map(Value::from));
        required.sort_by_key(ToString::to_string);
        required.dedup();
        converted.insert("required".to_owned(), required.into());
        if refers_to_emptied(&Value::Object(converted.clone())) {
            converted.insert("definitions".to_owned(), json!({ "emptied": emptied_definition() }));
        }
        let path = format!("{group}/{}_{name}.json", kind.to_lowercase());
        Some(KindSchema { path, schema: converted })
    };
    versions.filter_map(of_version).collect()
}

/// The keywords that have the same meaning in both kinds of schemas.
const SAME: [&str; 14] = [
    "description",
    "title",
    "default",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "multipleOf",
    "uniqueItems",
    "required",
];

/// The formats that servers and validators read alike.
const FORMATS: [&str; 3] = ["date", "date-time", "uuid"];

const KEEPS: &str = "x-kubernetes-preserve-unknown-fields";

/// The definition of a value of which servers keep everything but the fields of objects.
const EMPTIED: &str = "#/definitions/emptied";

fn emptied_definition() -> Value {
    json!({
        "description": "Any value: API servers remove the fields of objects here",
        "additionalProperties": false,
        "items": { "$ref": EMPTIED },
    })
}

fn refers_to_emptied(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            map.get("$ref").is_some_and(|target| target == EMPTIED)
                || map.values().any(refers_to_emptied)
        }
        Value::Array(items) => items.iter().any(refers_to_emptied),
        _ => false,
    }
}

/// Returns the schema of an object's metadata: a CRD may restrict the name, and the server defines the fields.
fn metadata_schema(schema: &Value) -> Value {
    let mut metadata =
        schema.pointer("/properties/metadata").map(convert_schema).unwrap_or_default();
    metadata.remove("additionalProperties");
    metadata.insert("type".to_owned(), "object".into());
    metadata.into()
}

fn convert_schema(schema: &Value) -> Map<String, Value> {
    let mut converted = Map::new();
    let keys = SAME.iter().filter_map(|key| Some((*key, schema.get(*key)?)));
    // Empty strings and lists have no meaning, and servers drop them.
    let kept = keys.filter(|entry| !matches!(entry.1, Value::String(entry) if entry.is_empty()));
    let kept =
        kept.filter(|entry| entry.0 == "default" || !entry.1.as_array().is_some_and(Vec::is_empty));
    converted.extend(kept.map(|(key, value)| (key.to_owned(), value.clone())));
    if let Some(example) = schema.get("example") {
        converted.insert("examples".to_owned(), json!([example]));
    }
    let mut types: Vec<&str> = schema.get("type").and_then(Value::as_str).into_iter().collect();
    if flag(schema, "x-kubernetes-int-or-string") {
        types = vec!["integer", "string"];
    }
    if flag(schema, "nullable") && !types.is_empty() {
        types.push("null");
    }
    match types[..] {
        [] => {}
        [one] => drop(converted.insert("type".to_owned(), one.into())),
        _ => drop(converted.insert("type".to_owned(), types.clone().into())),
    }
    if FORMATS.contains(&text(schema, "format")) {
        converted.insert("format".to_owned(), schema["format"].clone());
    }
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if let Some(value) = schema.get(bound) {
            let key = if flag(schema, exclusive) { exclusive } else { bound };
            converted.insert(key.to_owned(), value.clone());
        }
    }
    if text(schema, "format") == "int32" && !types.contains(&"string") {
        converted.entry("minimum").or_insert_with(|| i32::MIN.into());
        converted.entry("maximum").or_insert_with(|| i32::MAX.into());
    }
    if text(schema, "x-kubernetes-list-type") == "set" {
        converted.insert("uniqueItems".to_owned(), true.into());
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        if let Some(schemas) =
            schema.get(key).and_then(Value::as_array).filter(|schemas| !schemas.is_empty())
        {
            let nested = schemas.iter().map(|schema| Value::Object(convert_nested(schema)));
            converted.insert(key.to_owned(), nested.collect());
        }
    }
    if let Some(not) = schema.get("not") {
        converted.insert("not".to_owned(), convert_nested(not).into());
    }
    if let Some(items) = schema.get("items") {
        let mut items = items.clone();
        // A list that keeps unknown fields keeps those of its items.
        if flag(schema, KEEPS)
            && let Some(map) = items.as_object_mut()
        {
            map.insert(KEEPS.to_owned(), true.into());
        }
        converted.insert("items".to_owned(), convert_schema(&items).into());
    }
    insert_fields(schema, &mut converted);
    converted
}

/// Adds the fields of an object. Other fields are not allowed unless the schema keeps them.
fn insert_fields(schema: &Value, converted: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut properties: Map<String, Value> = properties
        .into_iter()
        .flatten()
        .map(|(name, it)| (name.clone(), convert_schema(it).into()))
        .collect();
    if flag(schema, "x-kubernetes-embedded-resource") {
        for name in ["apiVersion", "kind"] {
            properties.entry(name).or_insert_with(|| json!({ "type": "string", "minLength": 1 }));
            let required = converted.entry("required").or_insert_with(|| json!([]));
            let list =
                required.as_array_mut().filter(|names| !names.iter().any(|value| value == name));
            list.into_iter().for_each(|names| names.push(name.into()));
        }
        properties.insert("metadata".to_owned(), metadata_schema(schema));
    }
    let is_object = text(schema, "type") == "object";
    if !properties.is_empty() {
        converted.insert("properties".to_owned(), properties.into());
    }
    let others = match schema.get("additionalProperties") {
        Some(values @ Value::Object(_)) => Some(convert_schema(values).into()),
        // Servers keep the entries, and remove what is inside of objects in them.
        Some(Value::Bool(true)) => Some(json!({ "$ref": EMPTIED })),
        Some(allowed) => Some(allowed.clone()),
        None if is_object && !flag(schema, KEEPS) => Some(false.into()),
        None => None,
    };
    converted.extend(others.map(|schema| ("additionalProperties".to_owned(), schema)));
}

/// Converts a schema inside of `allOf` and the like, which has no types and forbids no other fields.
fn convert_nested(schema: &Value) -> Map<String, Value> {
    let mut converted = convert_schema(schema);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        let properties =
            properties.iter().map(|(name, it)| (name.clone(), convert_nested(it).into()));
        converted.insert("properties".to_owned(), properties.collect::<Map<_, _>>().into());
    }
    if !matches!(schema.get("additionalProperties"), Some(Value::Object(_))) {
        converted.remove("additionalProperties");
    }
    converted
}

#[test]
fn there_is_a_schema_of_each_version_served_or_not() {
    let version = |name: &str, served: bool| json!({ "name": name, "served": served, "schema": { "openAPIV3Schema": { "type": "object" } } });
    let crd = json!({ "spec": { "group": "example.com", "names": { "kind": "Thing" },
        "versions": [version("v1", true), version("v1beta1", false), { "name": "v2", "served": true }] } });
    let paths: Vec<String> = schemas_of_crd(&crd).into_iter().map(|schema| schema.path).collect();
    assert_eq!(paths, ["example.com/thing_v1.json", "example.com/thing_v1beta1.json"]);
}

#[test]
fn a_schema_says_what_the_structural_one_means() {
    let check = |schema: Value, expected: Value| {
        assert_eq!(Value::Object(convert_schema(&schema)), expected, "{schema}");
    };
    check(json!({ "type": "string", "nullable": true }), json!({ "type": ["string", "null"] }));
    check(json!({ "type": "string", "format": "duration" }), json!({ "type": "string" }));
    check(
        json!({ "type": "integer", "format": "int32", "minimum": 0 }),
        json!({ "type": "integer", "minimum": 0, "maximum": i32::MAX }),
    );
    check(
        json!({ "x-kubernetes-int-or-string": true, "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        json!({ "type": ["integer", "string"], "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
    );
    check(
        json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 3, "exclusiveMaximum": false }),
        json!({ "type": "integer", "exclusiveMinimum": 1, "maximum": 3 }),
    );
    check(json!({ "type": "object" }), json!({ "type": "object", "additionalProperties": false }));
    check(
        json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
        json!({ "type": "object" }),
    );
    check(
        json!({ "type": "object", "additionalProperties": { "type": "object", "properties": { "a": {} } } }),
        json!({ "type": "object", "additionalProperties":
            { "type": "object", "properties": { "a": {} }, "additionalProperties": false } }),
    );
    check(
        json!({ "type": "array", "items": { "type": "string" }, "x-kubernetes-list-type": "set", "enum": [] }),
        json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true }),
    );
    check(
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "oneOf": [{ "required": ["a"] },
            { "not": { "required": ["a"] }, "properties": { "a": { "minLength": 1 } } }] }),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "additionalProperties": false,
            "oneOf": [{ "required": ["a"] },
            { "not": { "required": ["a"] }, "properties": { "a": { "minLength": 1 } } }] }),
    );
}

#[test]
fn a_map_of_any_values_has_no_fields_inside_of_them() {
    let spec = json!({ "type": "object", "additionalProperties": true });
    let schema = json!({ "type": "object", "properties": { "spec": spec } });
    let version = json!({ "name": "v1", "served": true, "schema": { "openAPIV3Schema": schema } });
    let crd =
        json!({ "spec": { "group": "b.c", "names": { "kind": "A" }, "versions": [version] } });
    let found = Value::from(schemas_of_crd(&crd).remove(0).schema);
    let expected = json!({ "type": "object", "additionalProperties": { "$ref": EMPTIED } });
    assert_eq!(found["properties"]["spec"], expected);
    let emptied = json!({ "additionalProperties": false, "items": { "$ref": "#/definitions/emptied" },
        "description": "Any value: API servers remove the fields of objects here" });
    assert_eq!(found["definitions"], json!({ "emptied": emptied }));
}

#[test]
fn restrictions_of_a_name_leave_the_other_metadata_free() {
    let metadata =
        json!({ "type": "object", "properties": { "name": { "type": "string", "maxLength": 9 } } });
    let embedded = json!({ "type": "object", "x-kubernetes-embedded-resource": true, "properties": { "metadata": metadata } });
    let schema =
        json!({ "type": "object", "properties": { "metadata": metadata, "pod": embedded } });
    let version = json!({ "name": "v1", "served": true, "schema": { "openAPIV3Schema": schema } });
    let names = json!({ "kind": "A" });
    let crd = json!({ "spec": { "group": "b.c", "names": names, "versions": [version] } });
    let found = Value::from(schemas_of_crd(&crd).remove(0).schema);
    assert_eq!(found["properties"]["metadata"], metadata);
    assert_eq!(found["properties"]["pod"]["properties"]["metadata"], metadata);
}
