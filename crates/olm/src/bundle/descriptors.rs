//! Descriptors of a custom resource for the console: one for each field of `spec` and `status`.
//!
//! Descriptors state only what is in the schema: a field's type, its enum, whether it scales. Nothing is guessed
//! from a field's name.

use super::{object, words};
use go_data::yaml::{Value, json};

/// Returns the description of a version. If it is the one that kube-derive generates, this is the description of
/// `spec`.
pub fn description_of_version(schema: &Value) -> Option<&str> {
    let spec = object::text(schema, "/properties/spec/description");
    let description = object::text(schema, "/description");
    let description =
        if description.starts_with("Auto-generated derived type for ") { "" } else { description };
    [description, spec].into_iter().find(|description| !description.is_empty())
}

/// Builds the descriptors of `spec` or `status`. `replicas` is the JSON path that the scale subresource names.
pub fn descriptors_of_fields(schema: &Value, part: &str, replicas: &str) -> Vec<Value> {
    let fields = schema.pointer(&format!("/properties/{part}/properties"));
    let fields = fields.and_then(Value::as_object).into_iter().flatten();
    fields
        .map(|(name, field)| {
            let scales = replicas == format!(".{part}.{name}");
            let mut descriptor = json!({ "path": name, "displayName": words::display_name(name) });
            match object::text(field, "/description") {
                "" => {}
                description => descriptor["description"] = json!(description),
            }
            let hints = x_descriptors(name, field, part, scales);
            if !hints.is_empty() {
                descriptor["x-descriptors"] = hints.into();
            }
            descriptor
        })
        .collect()
}

/// Returns the user's descriptors in their order, each completed from the schema, and then the other descriptors.
pub fn merge_with_user_descriptors(
    mut derived: Vec<Value>,
    user_descriptors: &[Value],
) -> Vec<Value> {
    let mut descriptors: Vec<Value> = Vec::new();
    for descriptor in user_descriptors {
        let path = object::text(descriptor, "/path");
        let at = derived.iter().position(|other| object::text(other, "/path") == path);
        let mut merged = at.map_or_else(|| json!({}), |index| derived.remove(index));
        for (field, value) in descriptor.as_object().into_iter().flatten() {
            merged[field.as_str()] = value.clone();
        }
        descriptors.push(merged);
    }
    descriptors.extend(derived);
    descriptors
}

/// Returns the `x-descriptors` of a field that the console of OpenShift knows.
fn x_descriptors(name: &str, field: &Value, part: &str, scales: bool) -> Vec<String> {
    let ui = |hint: &str| format!("urn:alm:descriptor:com.tectonic.ui:{hint}");
    let type_ = object::text(field, "/type");
    if part == "status" {
        let conditions = name == "conditions" && type_ == "array";
        let hint = conditions.then(|| "urn:alm:descriptor:io.kubernetes.conditions".to_owned());
        return hint.into_iter().collect();
    }
    let choices: Vec<&str> =
        object::list(field, "/enum").iter().filter_map(Value::as_str).collect();
    if !choices.is_empty() {
        return choices.into_iter().map(|choice| ui(&format!("select:{choice}"))).collect();
    }
    let resources = |field: &Value| {
        field.pointer("/properties/limits").and(field.pointer("/properties/requests")).is_some()
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
