//! Checks `selectableFields` of a CRD's version: each must lead to one plain field of the schema.

use super::pointer;
use go_data::yaml::Value;

/// The maximum number that Kubernetes accepts.
const MOST: usize = 8;

/// Returns the faults of selectable fields in the words of Kubernetes; `field` is the path of their list.
pub fn check_selectable_fields(version: &Value, field: &str) -> Vec<String> {
    let schema = version.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null);
    let mut messages = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (at, selectable) in pointer::list(version, "/selectableFields").iter().enumerate() {
        let field = format!("{field}[{at}].jsonPath");
        let path = pointer::text(selectable, "/jsonPath");
        if path.is_empty() {
            messages.push(format!("{field}: Required value"));
            continue;
        }
        let invalid = |why: &str| format!("{field}: Invalid value: {path:?}: {why}");
        let schema_at_path = match find_schema(schema, path) {
            Ok(found) => found,
            Err(why) => {
                messages.push(invalid(&format!("is an invalid path: {why}")));
                continue;
            }
        };
        if path == ".metadata" || path.starts_with(".metadata.") {
            messages.push(invalid("must not point to fields in metadata"));
        }
        if !matches!(pointer::text(schema_at_path, "/type"), "string" | "boolean" | "integer") {
            messages.push(invalid(
                "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.",
            ));
        }
        if seen.contains(&path) {
            messages.push(format!("{field}: Duplicate value: {path:?}"));
        } else {
            seen.push(path);
        }
    }
    if seen.len() > MOST {
        messages.push(format!("{field}: Too many: {}: must have at most {MOST} items", seen.len()));
    }
    messages
}

/// The schema at a path such as `.spec.size`.
pub fn find_schema<'a>(schema: &'a Value, path: &str) -> Result<&'a Value, String> {
    let Some(names) = path.strip_prefix('.') else {
        let word = path.split(['.', '[']).next().filter(|word| !word.is_empty()).unwrap_or(path);
        return Err(format!("expected [ or . but got: {word}"));
    };
    let mut at = schema;
    for name in names.split('.') {
        if name.contains('[') {
            return Err("array notation is not allowed".to_owned());
        }
        if name.is_empty() {
            return Err("unexpected end of JSON path".to_owned());
        }
        at = match (at.get("properties"), at.get("additionalProperties")) {
            (Some(properties), _) => properties.get(name),
            (None, below) => below,
        }
        .ok_or("does not refer to a valid field")?;
    }
    Ok(at)
}
