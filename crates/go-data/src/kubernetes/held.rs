//! A CRD as an API server holds it, so that two texts of one CRD are equal: without what is empty, with the values that
//! the server fills in, and with each number in one form.

use super::{
    decode::{Reader, SCHEMA, is_empty},
    scalar,
    types::{self, Type},
};
use crate::yaml::{Value, json};

/// A CRD as API servers hold it, without what they set by themselves.
pub fn held_crd(mut crd: Value) -> Value {
    crd.as_object_mut().and_then(|it| it.remove("status"));
    let metadata = crd.get_mut("metadata").and_then(Value::as_object_mut);
    metadata.and_then(|it| it.remove("creationTimestamp"));
    hold("apiextensions.CustomResourceDefinition", &mut crd);
    crd.get_mut("spec").into_iter().for_each(fill_in);
    crd
}

/// Removes empty fields, if their type leaves these out, and respells numbers.
fn hold(type_: Type, value: &mut Value) {
    let type_ = match type_.trim_start_matches('*') {
        "schemaOrBool" | "schemaOrArray" | "schemaOrStrings" => SCHEMA,
        other => other,
    };
    match value {
        Value::Number(_) => *value = number(type_, value),
        _ if type_ == "json" => *value = scalar::raw(value),
        Value::Array(items) => {
            let inner = type_.strip_prefix("[]").unwrap_or(type_);
            items.iter_mut().for_each(|it| hold(inner, it));
        }
        Value::Object(map) => {
            let fields = types::fields(type_, Reader::Server).unwrap_or_default();
            let field = |name: &str| fields.iter().find(|it| it.name == name);
            for (name, item) in map.iter_mut() {
                let type_ = type_.strip_prefix("{}").or(field(name).map(|it| it.type_));
                type_.into_iter().for_each(|it| hold(it, item));
            }
            map.retain(|name, item| {
                !field(name).is_some_and(|it| it.omit && is_empty(it.type_, item))
            });
        }
        _ => {}
    }
}

/// A number that Go holds as a float loses what 64 bits cannot tell apart.
fn number(type_: Type, value: &Value) -> Value {
    let float = value.as_f64().filter(|_| type_ == "float64").map(|it| json!(it));
    scalar::raw(&float.unwrap_or_else(|| value.clone()))
}

/// The defaults of `apiextensions.k8s.io/v1`.
fn fill_in(spec: &mut Value) {
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
