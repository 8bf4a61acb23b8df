//! Behaviour of older versions of schemars at run time that differs from the version that is built in.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::builtin::Dyn;

/// A map before schemars 1.2.0: the pattern of its keys, or nothing about them.
pub fn map_schema(generator: &mut SchemaGenerator) -> Schema {
    let keys = Dyn::<0>::json_schema(generator);
    let values = generator.subschema_for::<Dyn<1>>();
    let text = |key: &str| keys.get(key).and_then(Value::as_str);
    let pattern = match (text("pattern"), text("type")) {
        (Some(pattern), Some("string")) => pattern,
        (_, Some("integer")) => match keys.get("minimum").and_then(Value::as_u64) {
            Some(0) => r"^\d+$",
            _ => r"^-?\d+$",
        },
        _ => return json_schema!({ "type": "object", "additionalProperties": values }),
    };
    json_schema!({
        "type": "object",
        "patternProperties": json!({ pattern: values }),
        "additionalProperties": false,
    })
}

/// Flattens into a struct as schemars does before 1.1.0.
pub fn flattened_schema(generator: &mut SchemaGenerator, required: bool) -> Schema {
    let mut schema = Dyn::<0>::_schemars_private_non_optional_json_schema(generator);
    if Dyn::<0>::_schemars_private_is_option() && !required {
        schema.remove("required");
    }
    schema.as_object_mut().into_iter().for_each(allow_unknown_fields);
    schema
}

/// Takes unknown fields, here and in what applies to the same object: the outer struct decides on them.
fn allow_unknown_fields(object: &mut Map<String, Value>) {
    for key in ["additionalProperties", "unevaluatedProperties"] {
        if object.get(key) == Some(&Value::Bool(false)) {
            object.remove(key);
        }
    }
    for (key, value) in object {
        match (key.as_str(), value) {
            ("if" | "then" | "else", Value::Object(one)) => allow_unknown_fields(one),
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
                all.iter_mut().filter_map(Value::as_object_mut).for_each(allow_unknown_fields);
            }
            _ => {}
        }
    }
}
