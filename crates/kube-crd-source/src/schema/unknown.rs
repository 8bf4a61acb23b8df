//! Keys of a schema that schemas of CRDs do not have and that look like those that they have: kube drops them.

use serde_json::{Map, Value};

/// The keywords of a schema in a CRD.
const KEYS: &[&str] = &[
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
];

/// The keywords of an item of `x-kubernetes-validations`.
const RULE: &[&str] =
    &["fieldPath", "message", "messageExpression", "optionalOldSelf", "reason", "rule"];

/// Keywords of JSON Schema that look like others by chance. CRDs do without them.
const ALIKE: &[&str] = &["$id", "examples", "if"];

/// A key that is dropped.
#[derive(Debug)]
pub struct Unknown {
    /// The names of the fields that lead to it.
    pub path: Vec<String>,
    pub key: String,
    pub nearest: Option<&'static str>,
}

/// Every such key in a schema.
pub fn collect_unknown(schema: &Value) -> Vec<Unknown> {
    let mut unknown = Vec::new();
    in_schema(&mut Vec::new(), schema, &mut unknown);
    unknown
}

fn in_schema(path: &mut Vec<String>, schema: &Value, res: &mut Vec<Unknown>) {
    let Value::Object(map) = schema else { return };
    in_map(path, map, KEYS, res);
    for (key, value) in map {
        match (key.as_str(), value) {
            ("properties" | "patternProperties" | "definitions", Value::Object(fields)) => {
                for (name, it) in fields {
                    path.push(name.clone());
                    in_schema(path, it, res);
                    path.pop();
                }
            }
            ("items" | "additionalProperties" | "not", it @ Value::Object(_)) => {
                in_schema(path, it, res);
            }
            ("allOf" | "anyOf" | "oneOf" | "items", Value::Array(list)) => {
                list.iter().for_each(|item| in_schema(path, item, res));
            }
            ("x-kubernetes-validations", Value::Array(rules)) => {
                let rules = rules.iter().filter_map(Value::as_object);
                rules.for_each(|table| in_map(path, table, RULE, res));
            }
            _ => {}
        }
    }
}

fn in_map(
    path: &[String],
    map: &Map<String, Value>,
    known: &[&'static str],
    res: &mut Vec<Unknown>,
) {
    let keys = map.keys().map(String::as_str);
    for key in keys.filter(|key| !known.contains(key) && !ALIKE.contains(key)) {
        let nearest = diagnostics::find_nearest(key, known.iter().copied());
        if nearest.is_some() || key.starts_with("x-kubernetes-") {
            res.push(Unknown { path: path.to_vec(), key: key.to_owned(), nearest });
        }
    }
}

#[test]
fn the_keys_are_those_of_kube() {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
        JSONSchemaProps, ValidationRule,
    };
    // A key that a type does not have takes anything.
    fn is_known<T: serde::de::DeserializeOwned + serde::Serialize>(key: &str) -> bool {
        let read = |value: Value| {
            let map: Map<String, Value> = Map::from_iter([(key.to_owned(), value)]);
            serde_json::from_value::<T>(map.into())
                .map(|value| serde_json::to_value(value).unwrap())
        };
        let values = [serde_json::json!(1), serde_json::json!("a"), serde_json::json!([])];
        values
            .into_iter()
            .map(read)
            .any(|result| result.is_err() || result.is_ok_and(|it| it[key] != Value::Null))
    }
    for key in KEYS {
        assert!(is_known::<JSONSchemaProps>(key), "{key}");
    }
    for key in RULE {
        assert!(is_known::<ValidationRule>(key), "{key}");
    }
    for key in ALIKE {
        assert!(!is_known::<JSONSchemaProps>(key), "{key}");
    }
}
