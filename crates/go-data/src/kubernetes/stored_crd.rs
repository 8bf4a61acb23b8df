//! Converts a CRD into the form that an API server stores, so that two texts of one CRD are equal: without empty
//! fields, with the server's defaults, and with each number in one form.

use super::{
    decode::{Reader, SCHEMA, is_empty},
    scalar,
    types::{self, Type},
};
use crate::yaml::{Value, json};

/// Returns a CRD as API servers store it, without the fields that they set by themselves.
pub fn stored_crd(mut crd: Value) -> Value {
    crd.as_object_mut().and_then(|fields| fields.remove("status"));
    let metadata = crd.get_mut("metadata").and_then(Value::as_object_mut);
    metadata.and_then(|fields| fields.remove("creationTimestamp"));
    normalize_value("apiextensions.CustomResourceDefinition", &mut crd);
    crd.get_mut("spec").into_iter().for_each(add_defaults);
    crd
}

/// Removes empty fields, if their type leaves these out, and respells numbers.
fn normalize_value(type_: Type, value: &mut Value) {
    let type_ = match type_.trim_start_matches('*') {
        "schemaOrBool" | "schemaOrArray" | "schemaOrStrings" => SCHEMA,
        other => other,
    };
    match value {
        Value::Number(_) => *value = normalize_number(type_, value),
        _ if type_ == "json" => *value = scalar::normalize_numbers(value),
        Value::Array(items) => {
            let inner = type_.strip_prefix("[]").unwrap_or(type_);
            items.iter_mut().for_each(|item| normalize_value(inner, item));
        }
        Value::Object(map) => {
            let fields = types::struct_fields(type_, Reader::Server).unwrap_or_default();
            let field = |name: &str| fields.iter().find(|field| field.name == name);
            for (name, item) in map.iter_mut() {
                let type_ = type_.strip_prefix("{}").or(field(name).map(|field| field.type_));
                type_.into_iter().for_each(|type_| normalize_value(type_, item));
            }
            map.retain(|name, item| {
                !field(name).is_some_and(|field| field.omit && is_empty(field.type_, item))
            });
        }
        _ => {}
    }
}

/// Returns a number in its stored form. A number that Go stores as a float loses the digits beyond 64 bits.
fn normalize_number(type_: Type, value: &Value) -> Value {
    let float = value.as_f64().filter(|_| type_ == "float64").map(|float| json!(float));
    scalar::normalize_numbers(&float.unwrap_or_else(|| value.clone()))
}

/// Adds the defaults of `apiextensions.k8s.io/v1`.
fn add_defaults(spec: &mut Value) {
    let Some(fields) = spec.as_object_mut() else { return };
    let none = || json!({ "strategy": "None" });
    let conversion = fields.entry("conversion").or_insert_with(none);
    let service = conversion.pointer_mut("/webhook/clientConfig/service");
    if let Some(service) = service.and_then(Value::as_object_mut) {
        service.entry("port").or_insert_with(|| json!(443));
    }
    let Some(names) = fields.get_mut("names").and_then(Value::as_object_mut) else { return };
    let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned) else { return };
    names.entry("singular").or_insert_with(|| json!(kind.to_lowercase()));
    names.entry("listKind").or_insert_with(|| json!(format!("{kind}List")));
}
