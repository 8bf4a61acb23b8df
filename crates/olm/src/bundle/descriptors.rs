//! What a console shows of a custom resource: one descriptor for each field of `spec` and `status`.
//!
//! Descriptors state only what is in the schema: a field's type, its enum, whether it scales. Nothing is guessed
//! from a field's name.

use super::{object, words};
use go_data::yaml::{Value, json};

/// A version's own words: those of `spec`, for kube-derive puts words of its own above them.
pub fn description(schema: &Value) -> Option<&str> {
    let spec = object::text(schema, "/properties/spec/description");
    let own = object::text(schema, "/description");
    let own = if own.starts_with("Auto-generated derived type for ") { "" } else { own };
    [own, spec].into_iter().find(|it| !it.is_empty())
}

/// The descriptors of `spec` or `status`. `replicas` is the JSON path that the scale subresource names.
pub fn of(schema: &Value, part: &str, replicas: &str) -> Vec<Value> {
    let fields = schema.pointer(&format!("/properties/{part}/properties"));
    let fields = fields.and_then(Value::as_object).into_iter().flatten();
    fields
        .map(|(name, field)| {
            let scales = replicas == format!(".{part}.{name}");
            let mut res = json!({ "path": name, "displayName": words::title(name) });
            match object::text(field, "/description") {
                "" => {}
                description => res["description"] = json!(description),
            }
            let hints = hints(name, field, part, scales);
            if !hints.is_empty() {
                res["x-descriptors"] = hints.into();
            }
            res
        })
        .collect()
}

/// The user's descriptors in their order, each completed by what the schema says; then the others.
pub fn merged(mut derived: Vec<Value>, own: &[Value]) -> Vec<Value> {
    let mut res: Vec<Value> = Vec::new();
    for descriptor in own {
        let path = object::text(descriptor, "/path");
        let at = derived.iter().position(|it| object::text(it, "/path") == path);
        let mut merged = at.map_or_else(|| json!({}), |it| derived.remove(it));
        for (field, value) in descriptor.as_object().into_iter().flatten() {
            merged[field.as_str()] = value.clone();
        }
        res.push(merged);
    }
    res.extend(derived);
    res
}

/// `x-descriptors`, as the console of OpenShift knows them.
fn hints(name: &str, field: &Value, part: &str, scales: bool) -> Vec<String> {
    let ui = |it: &str| format!("urn:alm:descriptor:com.tectonic.ui:{it}");
    let type_ = object::text(field, "/type");
    if part == "status" {
        let conditions = name == "conditions" && type_ == "array";
        let hint = conditions.then(|| "urn:alm:descriptor:io.kubernetes.conditions".to_owned());
        return hint.into_iter().collect();
    }
    let choices: Vec<&str> =
        object::list(field, "/enum").iter().filter_map(Value::as_str).collect();
    if !choices.is_empty() {
        return choices.into_iter().map(|it| ui(&format!("select:{it}"))).collect();
    }
    let resources = |it: &Value| {
        it.pointer("/properties/limits").and(it.pointer("/properties/requests")).is_some()
    };
    match type_ {
        _ if scales => vec![ui("podCount")],
        "integer" | "number" => vec![ui("number")],
        "boolean" => vec![ui("booleanSwitch")],
        "string" => vec![ui("text")],
        "object" if resources(field) => vec![ui("resourceRequirements")],
        _ => Vec::new(),
    }
}
