//! Maps of values of any type: API servers keep their entries, and remove the fields of the objects in them.

use super::{Finding, property, walk};
use go_data::yaml::{Value, json};

const MESSAGE: &str = "is a map whose values have no schema: API servers remove all fields of the objects in it, and \
                       refuse them under strict validation";

pub fn findings(schema: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    walk("", schema, &mut |path, schema| {
        if schema.get("additionalProperties") == Some(&Value::Bool(true)) {
            findings.push(path.to_owned());
        }
    });
    let finding = |path: String| {
        let hint = format!("keep them with `#[schemars({})]`", extension(schema, &path));
        Finding { path, message: MESSAGE.to_owned(), hint }
    };
    findings.into_iter().map(finding).collect()
}

/// The extension of the declared field at or around a path that gives these values a schema.
fn extension(schema: &Value, path: &str) -> String {
    let field = property(path);
    let mut mended = super::schema_at(schema, field).cloned().unwrap_or_default();
    mend(&mut mended);
    let keyword = if mended.get("items").is_some() { "items" } else { "additionalProperties" };
    format!("extend(\"{keyword}\" = {})", mended[keyword])
}

fn mend(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    for (keyword, value) in map {
        match (keyword.as_str(), &value) {
            ("additionalProperties", Value::Bool(true)) => {
                *value = json!({ "x-kubernetes-preserve-unknown-fields": true });
            }
            ("additionalProperties" | "items", _) => mend(value),
            _ => {}
        }
    }
}
