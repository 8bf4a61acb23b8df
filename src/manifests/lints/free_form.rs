//! Maps of values of any type: API servers keep their entries, and remove the fields of the objects in them.

use super::{SchemaFinding, declared_field, visit_schemas};
use go_data::yaml::{Value, json};

const MESSAGE: &str = "is a map whose values have no schema: API servers remove all fields of the objects in it, and \
                       refuse them under strict validation";

pub fn findings(schema: &Value) -> Vec<SchemaFinding> {
    let mut findings = Vec::new();
    visit_schemas("", schema, &mut |path, schema| {
        if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
            findings.push(path.to_owned());
        }
    });
    let finding = |path: String| {
        let hint = format!("keep them with `#[schemars({})]`", extension_attribute(schema, &path));
        SchemaFinding { path, message: MESSAGE.to_owned(), hint }
    };
    findings.into_iter().map(finding).collect()
}

/// Returns the extension of the declared field at or around a path that gives these values a schema.
fn extension_attribute(schema: &Value, path: &str) -> String {
    let field = declared_field(path);
    let mut mended = super::schema_at(schema, field).cloned().unwrap_or_default();
    add_extension(&mut mended);
    let keyword = if mended.get("items").is_some() { "items" } else { "additionalProperties" };
    format!("extend(\"{keyword}\" = {})", mended[keyword])
}

fn add_extension(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for (keyword, value) in map {
        match (keyword.as_str(), &value) {
            ("additionalProperties", Value::Bool(true)) => {
                *value = json!({ "x-kubernetes-preserve-unknown-fields": true });
            }
            ("additionalProperties" | "items", _) => add_extension(value),
            _ => {}
        }
    }
}
